"""Provider: the kinds of the group resource.k8s.io."""

from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.resource import admin_access
from aio_apiserver.registry.groups.resource.deviceclasses import DEVICECLASSES
from aio_apiserver.registry.groups.resource.devicetaintrules import DEVICETAINTRULES
from aio_apiserver.registry.groups.resource.resourceclaims import RESOURCECLAIMS
from aio_apiserver.registry.groups.resource.resourceclaimtemplates import RESOURCECLAIMTEMPLATES
from aio_apiserver.registry.groups.resource.resourceslices import RESOURCESLICES

GROUP = "resource.k8s.io"

KINDS = (DEVICECLASSES, DEVICETAINTRULES, RESOURCECLAIMS, RESOURCECLAIMTEMPLATES, RESOURCESLICES)

HOOKS = {
    RESOURCECLAIMS.plural: admin_access.claim_hooks,
    RESOURCECLAIMTEMPLATES.plural: admin_access.template_hooks,
}

PROVIDER = KindsProvider(
    group=APIGroup(
        name=GROUP,
        priority=16200,
        versions={"v1": 21, "v1beta2": 18},
        history=(before((1, 34), versions={"v1beta2": 18}),),
    ),
    kinds=KINDS,
    hooks=HOOKS,
)

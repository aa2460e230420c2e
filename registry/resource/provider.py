"""The resource.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.resource import admin_access
from registry.resource.deviceclasses import DEVICECLASSES
from registry.resource.resourceclaims import RESOURCECLAIMS
from registry.resource.resourceclaimtemplates import RESOURCECLAIMTEMPLATES
from registry.resource.resourceslices import RESOURCESLICES

GROUP = "resource.k8s.io"

KINDS = (DEVICECLASSES, RESOURCECLAIMS, RESOURCECLAIMTEMPLATES, RESOURCESLICES)

HOOKS = {
    RESOURCECLAIMS.plural: admin_access.claim_hooks,
    RESOURCECLAIMTEMPLATES.plural: admin_access.template_hooks,
}

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS, hooks=HOOKS)

"""Provider: the kinds and further paths of the core group."""

from collections.abc import Mapping, Sequence
from functools import partial

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import Environment, RESTStorage
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core import namespaces_deletion, pod_subresources
from aio_apiserver.registry.groups.core.componentstatuses import COMPONENTSTATUSES, ComponentStatusREST
from aio_apiserver.registry.groups.core.configmaps import CONFIGMAPS
from aio_apiserver.registry.groups.core.endpoints import ENDPOINTS
from aio_apiserver.registry.groups.core.events import EVENTS
from aio_apiserver.registry.groups.core.limitranges import LIMITRANGES
from aio_apiserver.registry.groups.core.namespaces import NAMESPACES
from aio_apiserver.registry.groups.core.nodes import NODES
from aio_apiserver.registry.groups.core.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.persistentvolumes import PERSISTENTVOLUMES
from aio_apiserver.registry.groups.core.pod_subresources import Eviction
from aio_apiserver.registry.groups.core.pods import PODS
from aio_apiserver.registry.groups.core.podtemplates import PODTEMPLATES
from aio_apiserver.registry.groups.core.replicationcontrollers import REPLICATIONCONTROLLERS
from aio_apiserver.registry.groups.core.resourcequotas import RESOURCEQUOTAS
from aio_apiserver.registry.groups.core.secrets import SECRETS
from aio_apiserver.registry.groups.core.service_hooks import service_hooks
from aio_apiserver.registry.groups.core.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.groups.core.serviceaccounts_token import TokenREST
from aio_apiserver.registry.groups.core.services import SERVICES

GROUP = ""

KINDS = (
    CONFIGMAPS,
    ENDPOINTS,
    EVENTS,
    LIMITRANGES,
    NAMESPACES,
    NODES,
    PERSISTENTVOLUMECLAIMS,
    PERSISTENTVOLUMES,
    PODS,
    PODTEMPLATES,
    REPLICATIONCONTROLLERS,
    RESOURCEQUOTAS,
    SECRETS,
    SERVICEACCOUNTS,
    SERVICES,
)


def _extras(
    stores: Mapping[str, Store], environment: Environment, *, eviction: Eviction
) -> Mapping[str, Mapping[str, RESTStorage]]:
    """The REST storage of paths beside the kinds."""
    return {
        "v1": {
            COMPONENTSTATUSES.plural: ComponentStatusREST(environment),
            f"{SERVICEACCOUNTS.plural}/token": TokenREST(environment),
            **namespaces_deletion.paths(stores),
            **pod_subresources.paths(stores, environment, eviction=eviction),
        }
    }


def provider(*, events: Sequence[Kind], addresses: Kind, cidrs: Kind, eviction: Eviction) -> KindsProvider:
    """The provider of the core group, with the parts that belong to other groups.

    `events` are kinds that show core events in another shape. `addresses` and `cidrs` are IPAddress and ServiceCIDR,
    from which services get addresses. `eviction` makes pods/eviction. Must hold: core imports no other group.
    """
    return KindsProvider(
        group=APIGroup(name=GROUP, priority=18000, versions={"v1": 1}),
        kinds=KINDS,
        also={EVENTS.plural: events},
        hooks={SERVICES.plural: service_hooks(addresses, cidrs)},
        extras=partial(_extras, eviction=eviction),
    )

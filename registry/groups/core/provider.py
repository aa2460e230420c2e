"""Provider: the kinds and further paths of the core group."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import Environment, RESTStorage
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.generic.store.status import SubresourceREST
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.componentstatuses import COMPONENTSTATUSES, ComponentStatusREST
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.core.events.events import EVENTS
from aio_apiserver.registry.groups.core.namespaces import namespaces_deletion
from aio_apiserver.registry.groups.core.namespaces.limitranges import LIMITRANGES
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.groups.core.namespaces.resourcequotas import RESOURCEQUOTAS
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.pods import pods_ephemeralcontainers, pods_resize
from aio_apiserver.registry.groups.core.pods.bindings import BINDINGS, BindingREST
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.pods.pods_log import LogREST
from aio_apiserver.registry.groups.core.pods.pods_streams import StreamREST
from aio_apiserver.registry.groups.core.pods.podtemplates import PODTEMPLATES
from aio_apiserver.registry.groups.core.pods.replicationcontrollers import REPLICATIONCONTROLLERS
from aio_apiserver.registry.groups.core.proxies import NodeProxyREST, PodProxyREST, ServiceProxyREST
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts_token import TokenREST
from aio_apiserver.registry.groups.core.services.endpoints import ENDPOINTS
from aio_apiserver.registry.groups.core.services.service_hooks import service_hooks
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volumes.persistentvolumes import PERSISTENTVOLUMES

Eviction = Callable[[Store, Environment], RESTStorage]
"""Makes pods/eviction from the Store of pods. The policy group has the rules of evictions."""


def paths(stores: Mapping[str, Store], environment: Environment, *, eviction: Eviction) -> Mapping[str, RESTStorage]:
    """The REST storage of each path, beside pods and pods/status."""
    pods = stores[PODS.plural]
    return {
        BINDINGS.plural: BindingREST(pods, BINDINGS),
        "nodes/proxy": NodeProxyREST(stores[NODES.plural], environment),
        "pods/attach": StreamREST(pods, environment, subresource="attach", options="PodAttachOptions"),
        "pods/binding": BindingREST(pods, PODS),
        "pods/ephemeralcontainers": SubresourceREST(pods, "ephemeralcontainers", pods_ephemeralcontainers.STRATEGY),
        "pods/eviction": eviction(pods, environment),
        "pods/exec": StreamREST(pods, environment, subresource="exec", options="PodExecOptions"),
        "pods/log": LogREST(pods, environment),
        "pods/portforward": StreamREST(pods, environment, subresource="portforward", options="PodPortForwardOptions"),
        "pods/proxy": PodProxyREST(pods, environment),
        "pods/resize": SubresourceREST(pods, "resize", pods_resize.STRATEGY),
        "services/proxy": ServiceProxyREST(stores[SERVICES.plural], environment),
    }


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
            **paths(stores, environment, eviction=eviction),
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

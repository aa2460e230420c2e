"""The core group: its kinds."""

from collections.abc import Mapping

from registry.core import namespaces_deletion, pod_subresources
from registry.core.componentstatuses import COMPONENTSTATUSES, ComponentStatusREST
from registry.core.configmaps import CONFIGMAPS
from registry.core.endpoints import ENDPOINTS
from registry.core.events import EVENTS
from registry.core.limitranges import LIMITRANGES
from registry.core.namespaces import NAMESPACES
from registry.core.nodes import NODES
from registry.core.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from registry.core.persistentvolumes import PERSISTENTVOLUMES
from registry.core.pods import PODS
from registry.core.podtemplates import PODTEMPLATES
from registry.core.replicationcontrollers import REPLICATIONCONTROLLERS
from registry.core.resourcequotas import RESOURCEQUOTAS
from registry.core.secrets import SECRETS
from registry.core.service_hooks import service_hooks
from registry.core.serviceaccounts import SERVICEACCOUNTS
from registry.core.serviceaccounts_token import TokenREST
from registry.core.services import SERVICES
from registry.events.provider import KINDS as EVENTS_ELSEWHERE
from registry.generic.provider import KindsProvider
from registry.generic.store import Store
from registry.rest import Environment, RESTStorage

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


def _extras(stores: Mapping[str, Store], environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
    """What the group serves beyond its kinds."""
    return {
        "v1": {
            COMPONENTSTATUSES.plural: ComponentStatusREST(environment),
            f"{SERVICEACCOUNTS.plural}/token": TokenREST(environment),
            **namespaces_deletion.paths(stores),
            **pod_subresources.paths(stores, environment),
        }
    }


PROVIDER = KindsProvider(
    group=GROUP,
    kinds=KINDS,
    also={EVENTS.plural: EVENTS_ELSEWHERE},
    hooks={SERVICES.plural: service_hooks},
    extras=_extras,
)

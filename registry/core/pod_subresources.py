"""The paths below pods, and /bindings, which is one of them by another name."""

from collections.abc import Mapping

from registry.core import pods_ephemeralcontainers, pods_resize
from registry.core.bindings import BINDINGS, BindingREST
from registry.core.pods import PODS
from registry.generic.status import SubresourceREST
from registry.generic.store import Store
from registry.policy.evictions import EvictionREST
from registry.rest import Environment, RESTStorage


def paths(stores: Mapping[str, Store], environment: Environment) -> Mapping[str, RESTStorage]:
    """What is served beyond pods and their status, by path."""
    pods = stores[PODS.plural]
    return {
        BINDINGS.plural: BindingREST(pods, BINDINGS),
        "pods/binding": BindingREST(pods, PODS),
        "pods/ephemeralcontainers": SubresourceREST(pods, "ephemeralcontainers", pods_ephemeralcontainers.STRATEGY),
        "pods/eviction": EvictionREST(pods, environment),
        "pods/resize": SubresourceREST(pods, "resize", pods_resize.STRATEGY),
    }

"""The paths below pods, /bindings, which is one of them by another name, and the proxies of nodes and services."""

from collections.abc import Mapping

from registry.core import pods_ephemeralcontainers, pods_resize
from registry.core.bindings import BINDINGS, BindingREST
from registry.core.nodes import NODES
from registry.core.pods import PODS
from registry.core.pods_log import LogREST
from registry.core.pods_streams import StreamREST
from registry.core.proxies import NodeProxyREST, PodProxyREST, ServiceProxyREST
from registry.core.services import SERVICES
from registry.generic.status import SubresourceREST
from registry.generic.store import Store
from registry.policy.evictions import EvictionREST
from registry.rest import Environment, RESTStorage


def paths(stores: Mapping[str, Store], environment: Environment) -> Mapping[str, RESTStorage]:
    """What is served beyond pods and their status, by path."""
    pods = stores[PODS.plural]
    return {
        BINDINGS.plural: BindingREST(pods, BINDINGS),
        "nodes/proxy": NodeProxyREST(stores[NODES.plural], environment),
        "pods/attach": StreamREST(pods, environment, subresource="attach", options="PodAttachOptions"),
        "pods/binding": BindingREST(pods, PODS),
        "pods/ephemeralcontainers": SubresourceREST(pods, "ephemeralcontainers", pods_ephemeralcontainers.STRATEGY),
        "pods/eviction": EvictionREST(pods, environment),
        "pods/exec": StreamREST(pods, environment, subresource="exec", options="PodExecOptions"),
        "pods/log": LogREST(pods, environment),
        "pods/portforward": StreamREST(pods, environment, subresource="portforward", options="PodPortForwardOptions"),
        "pods/proxy": PodProxyREST(pods, environment),
        "pods/resize": SubresourceREST(pods, "resize", pods_resize.STRATEGY),
        "services/proxy": ServiceProxyREST(stores[SERVICES.plural], environment),
    }

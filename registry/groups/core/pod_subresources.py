"""Pod subresources: the paths below pods, /bindings, and the proxies of nodes and services."""

from collections.abc import Callable, Mapping

from aio_apiserver.registry.generic.rest import Environment, RESTStorage
from aio_apiserver.registry.generic.store.status import SubresourceREST
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.pods import pods_ephemeralcontainers, pods_resize
from aio_apiserver.registry.groups.core.pods.bindings import BINDINGS, BindingREST
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.pods.pods_log import LogREST
from aio_apiserver.registry.groups.core.pods.pods_streams import StreamREST
from aio_apiserver.registry.groups.core.proxies import NodeProxyREST, PodProxyREST, ServiceProxyREST
from aio_apiserver.registry.groups.core.services.services import SERVICES

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

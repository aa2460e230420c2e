"""Services: the quota evaluator of services: their count, node ports and load balancers. Pure."""

from collections.abc import Iterable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import amounts
from aio_apiserver.registry.base.amounts import Amounts
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.registry.plugins.quota.evaluators import Unscoped, count_name

_NODE_PORTS, _LOAD_BALANCERS = "services.nodeports", "services.loadbalancers"
_COUNT, _PLURAL = count_name(SERVICES.resource), SERVICES.plural
_NAMES = frozenset({_COUNT, _PLURAL, _NODE_PORTS, _LOAD_BALANCERS})


class Services(Unscoped):
    """The evaluator of services. Updates count too, because a service may change its type."""

    def handles(self, attributes: Attributes) -> bool:
        return not attributes.subresource and attributes.operation in {Operation.CREATE, Operation.UPDATE}

    def names(self, limited: Iterable[str]) -> list[str]:
        return [name for name in limited if name in _NAMES]

    def usage(self, obj: Object, *, now: float) -> Amounts:
        spec = obj.get("spec") or {}
        ports, service_type = spec.get("ports") or (), spec.get("type")
        is_balanced = service_type == "LoadBalancer"
        node_ports = len(ports) if is_balanced or service_type == "NodePort" else 0
        if is_balanced and spec.get("allocateLoadBalancerNodePorts") is False:
            node_ports = sum(bool(port.get("nodePort")) for port in ports)
        return {
            _COUNT: amounts.ONE,
            _PLURAL: amounts.ONE,
            _LOAD_BALANCERS: amounts.count(int(is_balanced)),
            _NODE_PORTS: amounts.count(node_ports),
        }

"""Port plans: decide which node ports a service allocates and which it releases. The plan is applied to the service
later.

Must hold: ports of a new service with the same number share a node port, for example one for TCP and one for UDP.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from aio_apiserver.registry.base.errors import InternalError, Invalid, StatusError
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.groups.core.services.allocation.node_ports import PortError, Ports
from aio_apiserver.registry.groups.core.services.parts import service_types
from aio_apiserver.registry.groups.core.services.parts.service_types import Spec


class NodePortPlan(Struct):
    """The node ports of a service in the order of its ports (0 for none), and the ports that were allocated for
    them.
    """

    node_ports: list[int]
    health_check: int = 0
    taken: list[int] = field(default_factory=list)

    def apply(self, spec: dict[str, Any]) -> None:
        """Write the node ports into the spec of the service."""
        for port, node_port in zip(service_types.ports(spec), self.node_ports, strict=True):
            if node_port:
                port["nodePort"] = node_port
        if self.health_check:
            spec["healthCheckNodePort"] = self.health_check


def is_needed(spec: Spec) -> bool:
    """Whether a service of this type may have node ports."""
    return service_types.may_have_node_ports(spec)


def for_new(spec: Spec, stock: Ports, *, name: str) -> NodePortPlan:
    """The node ports of a new service. Raises Invalid, InternalError."""
    plan = _present(spec)
    by_number: dict[int, int] = {}
    for index, port in enumerate(service_types.ports(spec)):
        if not plan.node_ports[index] and not service_types.allocates_node_ports(spec):
            continue
        number, wanted = port.get("port", 0), plan.node_ports[index]
        if number not in by_number:
            by_number[number] = wanted = _requested(spec, number)
            plan.node_ports[index] = by_number[number] = _take(plan, stock, wanted, _path(index), name)
        elif not wanted:
            plan.node_ports[index] = by_number[number]
        elif wanted != by_number[number]:
            _take(plan, stock, wanted, _path(index), name)
    if service_types.needs_health_check(spec):
        plan.health_check = _take_health_check(plan, stock, spec)
    return plan


def for_changed(spec: Spec, old: Spec, stock: Ports, *, name: str) -> NodePortPlan:
    """The node ports of a changed service. Raises Invalid, InternalError."""
    plan, had = _present(spec), set(service_types.node_ports(old))
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(service_types.ports(spec)):
        wanted = plan.node_ports[index]
        if not wanted and not service_types.allocates_node_ports(spec):
            continue
        if wanted not in had and wanted not in plan.taken:
            plan.node_ports[index] = _take(plan, stock, wanted, _path(index), name)
        one = (port.get("protocol") or "", plan.node_ports[index])
        if one in seen:
            raise StatusError("duplicate nodePort: {{{} {}}}".format(*one))
        seen.add(one)
    if service_types.needs_health_check(spec) and not service_types.needs_health_check(old):
        plan.health_check = _take_health_check(plan, stock, spec)
    return plan


def given_up(spec: Spec, old: Spec) -> Sequence[int]:
    """The ports that the old service has and the changed one does not need."""
    kept = service_types.node_ports(spec) if is_needed(spec) else []
    freed = [port for port in service_types.node_ports(old) if port not in kept] if is_needed(old) else []
    if service_types.needs_health_check(old) and not service_types.needs_health_check(spec):
        freed.append(old.get("healthCheckNodePort") or 0)
    return freed


def all_of(spec: Spec) -> Sequence[int]:
    """All node ports of a service."""
    held = service_types.node_ports(spec)
    return [*held, spec.get("healthCheckNodePort") or 0] if service_types.needs_health_check(spec) else held


def _present(spec: Spec) -> NodePortPlan:
    return NodePortPlan([port.get("nodePort") or 0 for port in service_types.ports(spec)])


def _requested(spec: Spec, number: int) -> int:
    """The node port that any of the service's ports with this number requests; 0 for none."""
    same = (port.get("nodePort") or 0 for port in service_types.ports(spec) if port.get("port", 0) == number)
    return next((node_port for node_port in same if node_port), 0)


def _take(plan: NodePortPlan, stock: Ports, wanted: int, path: str, name: str) -> int:
    try:
        if wanted:
            stock.take(wanted)
    except PortError as exc:
        raise _invalid(name, path, wanted, str(exc)) from exc
    try:
        port = wanted or stock.take_any()
    except PortError as exc:
        raise InternalError(f"failed to allocate a nodePort: {exc}") from exc
    plan.taken.append(port)
    return port


def _take_health_check(plan: NodePortPlan, stock: Ports, spec: Spec) -> int:
    wanted: int = spec.get("healthCheckNodePort") or 0
    try:
        if wanted:
            stock.take(wanted)
        port = wanted or stock.take_any()
    except PortError as exc:
        what = f"requested HealthCheck NodePort {wanted}" if wanted else "a HealthCheck NodePort 0"
        raise InternalError(f"failed to allocate {what}: {exc}") from exc
    plan.taken.append(port)
    return port


def _path(index: int) -> str:
    return f"spec.ports[{index}].nodePort"


def _invalid(name: str, path: str, port: int, why: str) -> Invalid:
    return invalid_of(GroupKind("", "Service"), name, [fields.invalid(path, port, why)])

"""Endpoints: the addresses behind a service in the older API, which EndpointSlices replace."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import addresses, endpoint_ports, field, names, ports
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of
from aio_apiserver.registry.machinery.printing.formats import NONE

_MANAGED_BY = "endpoints.kubernetes.io/managed-by"
_CONTROLLER = "endpoint-controller"
_ADDRESS_LISTS = ("addresses", "notReadyAddresses")


class EndpointsStrategy(Strategy, frozen=True, kw_only=True):
    """The rules for subsets: addresses that share ports. Unchanged subsets are not validated again."""

    def default(self, obj: Object) -> None:
        for subset in obj.get("subsets") or ():
            for port in subset.get("ports") or ():
                if not port.get("protocol"):
                    port["protocol"] = "TCP"

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_subsets(obj.get("subsets") or ())

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        is_unchanged = (new.get("subsets") or []) == (old.get("subsets") or [])
        return errors + self.validate_again(context, {**new, "subsets": []} if is_unchanged else new)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        labels = obj["metadata"].get("labels") or {}
        if labels.get(_MANAGED_BY) == _CONTROLLER:
            return []
        return [
            warning
            for number, subset in enumerate(obj.get("subsets") or ())
            for name in _ADDRESS_LISTS
            for index, address in enumerate(subset.get(name) or ())
            for warning in addresses.warn(address.get("ip", ""), f"subsets[{number}].{name}[{index}].ip")
        ]

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


def _validate_subsets(subsets: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    errors = []
    for number, subset in enumerate(subsets):
        path = f"subsets[{number}]"
        if not any(subset.get(name) for name in _ADDRESS_LISTS):
            errors.append(field.required(path, "must specify `addresses` or `notReadyAddresses`"))
        for name in _ADDRESS_LISTS:
            for index, address in enumerate(subset.get(name) or ()):
                errors += _validate_address(address, f"{path}.{name}[{index}]")
        members = subset.get("ports") or ()
        for index, port in enumerate(members):
            errors += _validate_port(port, f"{path}.ports[{index}]", needs_name=len(members) > 1)
    return errors


def _validate_address(address: Mapping[str, Any], path: str) -> list[FieldError]:
    ip, node = address.get("ip", ""), address.get("nodeName")
    errors = addresses.validate_legacy(ip, f"{path}.ip")
    if hostname := address.get("hostname"):
        errors += field.invalid_each(f"{path}.hostname", hostname, names.is_dns_label(hostname, False))
    if node is not None:
        errors += field.invalid_each(f"{path}.nodeName", node, names.is_dns_subdomain(node, False))
    return errors + addresses.validate_endpoint(ip, f"{path}.ip")


def _validate_port(port: Mapping[str, Any], path: str, *, needs_name: bool) -> list[FieldError]:
    name = port.get("name", "")
    errors = []
    if name:
        errors += field.invalid_each(f"{path}.name", name, names.is_dns_label(name, False))
    elif needs_name:
        errors.append(field.required(f"{path}.name"))
    errors += ports.validate_number(port.get("port", 0), f"{path}.port")
    return errors + endpoint_ports.validate_protocols(port, path)


_SHOWN = 3


def _points(obj: Object, _now: float) -> str:
    subsets = obj.get("subsets") or ()
    if not subsets:
        return NONE
    texts = [text for subset in subsets for text in _of_subset(subset)]
    return formats.with_more(texts, _SHOWN, len(texts))


def _of_subset(subset: Mapping[str, Any]) -> Sequence[str]:
    addresses = [one.get("ip", "") for one in subset.get("addresses") or ()]
    ports = subset.get("ports") or ()
    if not ports:
        return addresses
    return [_host_port(address, port.get("port", 0)) for port in ports for address in addresses]


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


_COLUMNS = table_of(NAME, (Column(name="Endpoints", field="core.v1.Endpoints.subsets"), _points), AGE)

ENDPOINTS = Kind(
    group="",
    plural="endpoints",
    kind="Endpoints",
    stored_under="services/endpoints",
    deprecation="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    short_names=("ep",),
    strategy=EndpointsStrategy(allows_create_on_update=True),
    columns=_COLUMNS,
)

"""EndpointSlices: a part of the endpoints of a service, with one address type and the same ports."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import addresses, endpoint_ports, field, names, object_meta
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.generic.error_history import showing, since, worded
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.discovery import endpointslices_columns

_IPV4, _IPV6, _FQDN = "IPv4", "IPv6", "FQDN"
_ADDRESS_TYPES = (_FQDN, _IPV4, _IPV6)
_MAX_LABELS = 16
_MAX_ADDRESSES = 100
_MAX_PORTS = 20_000
_MAX_ENDPOINTS = 1000
_MAX_HINTS = 8
_HOST_LABEL = "kubernetes.io/hostname"
_ZONE_LABEL = "topology.kubernetes.io/zone"
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_CONTROLLERS = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")


class EndpointSliceStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of slices. Labels count for the generation, and unchanged endpoints are not validated again."""

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        _drop_topology(obj, frozenset())

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        if not _has_same_endpoints(new, old):
            _drop_topology(new, _host_labels(old))

    def is_changed(self, new: Object, old: Object) -> bool:
        return super().is_changed(new, old) or _labels(new) != _labels(old)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate(obj) + _validate_endpoints(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        known = {**new, "endpoints": []} if _has_same_endpoints(new, old) else new
        address_type = new.get("addressType", "")
        errors = self.validate_again(context, known)
        if address_type != old.get("addressType", ""):
            errors.append(field.invalid("addressType", address_type, object_meta.IMMUTABLE))
        return errors

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        is_named = obj.get("addressType") == _FQDN
        deprecated = ["spec.addressType: FQDN endpoints are deprecated"] if is_named else []
        return deprecated + _warn_of_addresses(obj)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return _warn_of_addresses(new)


def _labels(obj: Object) -> Mapping[str, str]:
    labels: Mapping[str, str] = obj["metadata"].get("labels") or {}
    return labels


def _has_same_endpoints(new: Object, old: Object) -> bool:
    return (new.get("endpoints") or []) == (old.get("endpoints") or [])


def _host_labels(obj: Object) -> frozenset[str]:
    found = ((one.get("deprecatedTopology") or {}).get(_HOST_LABEL) for one in obj.get("endpoints") or ())
    return frozenset(name for name in found if name)


def _drop_topology(obj: Object, known_nodes: frozenset[str]) -> None:
    """Remove deprecatedTopology, which v1 does not write. A known node name in it moves to nodeName."""
    for endpoint in obj.get("endpoints") or ():
        topology = endpoint.pop("deprecatedTopology", None) or {}
        node = topology.get(_HOST_LABEL)
        if endpoint.get("nodeName") is None and node in known_nodes and not names.is_dns_subdomain(node, False):
            endpoint["nodeName"] = node


def _warn_of_addresses(obj: Object) -> list[str]:
    if _labels(obj).get(_MANAGED_BY) in _CONTROLLERS:
        return []
    return [
        warning
        for number, endpoint in enumerate(obj.get("endpoints") or ())
        for index, address in enumerate(endpoint.get("addresses") or ())
        for warning in addresses.warn(address, f"endpoints[{number}].addresses[{index}]")
    ]


def _validate(obj: Object) -> list[FieldError]:
    address_type = obj.get("addressType", "")
    errors = []
    if not address_type:
        errors.append(field.required("addressType"))
    elif address_type not in _ADDRESS_TYPES:
        errors.append(field.not_supported("addressType", address_type, _ADDRESS_TYPES))
    return errors + _validate_ports(obj.get("ports") or ())


def _validate_ports(ports: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    if len(ports) > _MAX_PORTS:
        return [field.too_many("ports", len(ports), _MAX_PORTS)]
    errors = []
    seen = set()
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", port.get("name") or ""
        if name:
            errors += field.invalid_each(f"{path}.name", name, names.is_dns_label(name, False))
        if name in seen:
            errors.append(field.duplicate(f"{path}.name", name))
        seen.add(name)
        errors += endpoint_ports.validate_protocols(port, path)
    return errors


def _validate_endpoints(obj: Object) -> list[FieldError]:
    endpoints = obj.get("endpoints") or ()
    if len(endpoints) > _MAX_ENDPOINTS:
        return [field.too_many("endpoints", len(endpoints), _MAX_ENDPOINTS)]
    errors = []
    for index, endpoint in enumerate(endpoints):
        errors += _validate_endpoint(endpoint, obj.get("addressType", ""), f"endpoints[{index}]")
    return errors


def _validate_endpoint(endpoint: Mapping[str, Any], address_type: str, path: str) -> list[FieldError]:
    errors = _validate_addresses(endpoint.get("addresses") or (), address_type, f"{path}.addresses")
    node, hostname = endpoint.get("nodeName"), endpoint.get("hostname")
    if node is not None:
        errors += field.invalid_each(f"{path}.nodeName", node, names.is_dns_subdomain(node, False))
    errors += _validate_topology(endpoint.get("deprecatedTopology") or {}, f"{path}.deprecatedTopology")
    if hostname is not None:
        errors += field.invalid_each(f"{path}.hostname", hostname, names.is_dns_label(hostname, False))
    return errors + _validate_hints(endpoint.get("hints") or {}, f"{path}.hints")


def _validate_topology(topology: Mapping[str, str], path: str) -> list[FieldError]:
    errors = []
    if len(topology) > _MAX_LABELS:
        errors.append(field.too_many(path, len(topology), _MAX_LABELS))
    errors += object_meta.validate_labels(topology, path)
    if _ZONE_LABEL in topology:
        errors.append(field.internal(f"{path}[{_ZONE_LABEL}]", "reserved key was not removed in conversion"))
    return errors


def _validate_addresses(given: Sequence[str], address_type: str, path: str) -> list[FieldError]:
    errors = []
    if not given:
        errors.append(field.required(path, "must contain at least 1 address"))
    elif len(given) > _MAX_ADDRESSES:
        errors.append(field.too_many(path, len(given), _MAX_ADDRESSES))
    for index, address in enumerate(given):
        place = f"{path}[{index}]"
        match address_type:
            case "IPv4":
                errors += addresses.validate_legacy(address, place) or _validate_family(address, 4, path, place)
            case "IPv6":
                errors += addresses.validate(address, place) or _validate_family(address, 6, path, place)
            case "FQDN":
                errors += _validate_domain(address, place)
    return errors


def _validate_family(address: str, version: int, path: str, place: str) -> list[FieldError]:
    parsed = addresses.parse(address)
    is_right = parsed is not None and parsed.version == version
    wrong = [] if is_right else [field.invalid(path, address, f"must be an IPv{version} address")]
    return wrong + addresses.validate_endpoint(address, place)


def _validate_domain(name: str, path: str) -> list[FieldError]:
    """The errors of a domain name with at least two labels. A final dot is allowed."""
    if not name:
        return [field.required(path)]
    name = name.removesuffix(".")
    if messages := names.is_dns_subdomain(name, False):
        return [field.invalid(path, name, ",".join(messages))]
    labels = name.split(".")
    if len(labels) < 2:
        return [field.invalid(path, name, "should be a domain with at least two segments separated by dots")]
    wrong = ((label, names.is_dns_label(label, False)) for label in labels)
    return [field.invalid(path, label, ",".join(messages)) for label, messages in wrong if messages]


def _validate_hints(hints: Mapping[str, Any], path: str) -> list[FieldError]:
    zones, nodes = hints.get("forZones") or (), hints.get("forNodes") or ()
    if len(zones) > _MAX_HINTS:
        return [field.too_many(f"{path}.forZones", len(zones), _MAX_HINTS)]
    errors = _validate_hinted(zones, f"{path}.forZones", names.check_label_value)
    if len(nodes) > _MAX_HINTS:
        return [*errors, field.too_many(f"{path}.forNodes", len(nodes), _MAX_HINTS)]
    return errors + _validate_hinted(nodes, f"{path}.forNodes", lambda name: names.is_dns_subdomain(name, False))


def _validate_hinted(hinted: Sequence[Mapping[str, str]], path: str, check: Any) -> list[FieldError]:
    errors = []
    seen = set()
    for index, one in enumerate(hinted):
        name, place = one.get("name", ""), f"{path}[{index}].name"
        if name in seen:
            errors.append(field.duplicate(place, name))
        seen.add(name)
        errors += field.invalid_each(place, name, check(name))
    return errors


_ERRORS = (
    since((1, 37), "addressType", showing(None), detail=object_meta.IMMUTABLE),
    since((1, 37), r"endpoints\[\d+\]\.addresses", worded(""), type=ErrorType.REQUIRED),
)

ENDPOINTSLICES = Kind(
    group="discovery.k8s.io",
    plural="endpointslices",
    kind="EndpointSlice",
    strategy=EndpointSliceStrategy(has_generation=True),
    columns=endpointslices_columns.COLUMNS,
    errors=_ERRORS,
)

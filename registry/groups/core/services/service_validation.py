"""Service validation: validates ports, policies and status of a service. service_addresses.py validates its addresses.
Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import addresses, field, internal, names, object_meta, ports, values
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.core.services.parts import service_addresses, service_types
from aio_apiserver.registry.groups.core.services.parts.service_types import (
    CLUSTER_IP,
    EXTERNAL_NAME,
    LOAD_BALANCER,
    Spec,
)

TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints"
TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
_SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_LONGEST_AFFINITY = 86400
_FOR_LOAD_BALANCERS = "may only be used when `type` is 'LoadBalancer'"
_TRAFFIC_POLICIES = ("Cluster", "Local")
PREFER_CLOSE = "PreferClose"
_DISTRIBUTIONS = (PREFER_CLOSE, "PreferSameZone", "PreferSameNode")
_IP_MODES = ("Proxy", "VIP")


def validate(service: Object, old: Object | None = None) -> list[FieldError]:
    """The errors of a service. `old` is the previous state, whose addresses stay valid."""
    spec = service["spec"]
    old_spec = old["spec"] if old is not None else {}
    errors = _validate_topology(service) + _validate_type_fields(spec)
    taken: set[str] = set()
    for index, port in enumerate(service_types.ports(spec)):
        is_named = len(service_types.ports(spec)) > 1
        errors += _validate_port(port, f"spec.ports[{index}]", taken, needs_name=is_named)
    errors += object_meta.validate_labels(spec.get("selector") or {}, "spec.selector")
    errors += _validate_affinity(spec)
    errors += service_addresses.validate(spec, old_spec)
    errors += _validate_external_ips(spec, old_spec)
    errors += values.required_one_of(spec, "spec", "type", service_types.TYPES)
    errors += _validate_port_sets(spec)
    errors += _validate_source_ranges(service, old)
    errors += _validate_load_balancer(spec)
    errors += validate_class(spec)
    errors += _validate_external_policy(spec)
    errors += _validate_internal_policy(spec)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        errors.append(field.not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS))
    return errors


def validate_update(service: Object, old: Object) -> list[FieldError]:
    """The errors of a changed service, without those of its metadata."""
    new_spec, old_spec = service["spec"], old["spec"]
    errors = service_addresses.validate_change(new_spec, old_spec)
    both_balance = new_spec.get("type") == old_spec.get("type") == LOAD_BALANCER
    if both_balance and new_spec.get("loadBalancerClass") != old_spec.get("loadBalancerClass"):
        why = "may not change once set"
        errors.append(field.invalid("spec.loadBalancerClass", new_spec.get("loadBalancerClass"), why))
    errors += validate_class(new_spec)
    checks_health = service_types.needs_health_check(new_spec) and service_types.needs_health_check(old_spec)
    if checks_health and not service_types.same(new_spec, old_spec, "healthCheckNodePort"):
        errors.append(field.forbidden("spec.healthCheckNodePort", object_meta.IMMUTABLE))
    return errors + validate(service, old)


def _validate_topology(service: Object) -> list[FieldError]:
    annotations = service["metadata"].get("annotations") or {}
    hints, mode = annotations.get(TOPOLOGY_HINTS), annotations.get(TOPOLOGY_MODE)
    if hints is None or mode is None or hints == mode:
        return []
    why = f"must match annotations[{TOPOLOGY_HINTS}] when both are specified"
    return [field.invalid(f"metadata.annotations[{TOPOLOGY_MODE}]", mode, why)]


def _validate_type_fields(spec: Spec) -> list[FieldError]:
    kind, errors = spec.get("type"), []
    if not spec.get("ports") and not service_types.is_headless(spec) and kind != EXTERNAL_NAME:
        errors.append(field.required("spec.ports"))
    if service_types.may_have_node_ports(spec) and service_types.is_headless(spec):
        why = f"may not be set to 'None' for {kind} services"
        errors.append(field.invalid("spec.clusterIPs[0]", service_types.NONE, why))
    if kind == EXTERNAL_NAME:
        errors += _validate_external_name(spec)
    return errors


def _validate_external_name(spec: Spec) -> list[FieldError]:
    why = "may not be set for ExternalName services"
    errors = [field.forbidden(f"spec.{name}", why) for name in ("clusterIPs", "ipFamilies") if spec.get(name)]
    if spec.get("ipFamilyPolicy") is not None:
        errors.append(field.forbidden("spec.ipFamilyPolicy", why))
    name = (spec.get("externalName") or "").removesuffix(".")
    if not name:
        return [*errors, field.required("spec.externalName")]
    return errors + field.invalid_each("spec.externalName", name, names.DNS1123_SUBDOMAIN.check(name))


def _validate_port(port: Mapping[str, Any], path: str, taken: set[str], *, needs_name: bool) -> list[FieldError]:
    errors, name = [], port.get("name") or ""
    if name:
        errors += field.invalid_each(f"{path}.name", name, names.DNS1123_LABEL.check(name))
        if name in taken:
            errors.append(field.duplicate(f"{path}.name", name))
        taken.add(name)
    elif needs_name:
        errors.append(field.required(f"{path}.name"))
    errors += ports.validate_number(port.get("port", 0), f"{path}.port")
    errors += values.required_one_of(port, path, "protocol", _PROTOCOLS)
    errors += ports.validate(port.get("targetPort", 0), f"{path}.targetPort")
    if port.get("appProtocol") is not None:
        errors += _validate_qualified(port["appProtocol"], f"{path}.appProtocol")
    return errors


def _validate_qualified(value: str, path: str) -> list[FieldError]:
    return field.invalid_each(path, value, names.check_qualified_name(value))


def _validate_affinity(spec: Spec) -> list[FieldError]:
    errors = values.required_one_of(spec, "spec", "sessionAffinity", ("ClientIP", "None"))
    affinity, config = spec.get("sessionAffinity"), spec.get("sessionAffinityConfig")
    if affinity == "ClientIP":
        errors += _validate_client_ip(config)
    elif affinity == "None" and config is not None:
        why = "must not be set when session affinity is None"
        errors.append(field.forbidden("spec.sessionAffinityConfig", why))
    return errors


def _validate_client_ip(config: Mapping[str, Any] | None) -> list[FieldError]:
    path, why = "spec.sessionAffinityConfig", "when session affinity type is ClientIP"
    if config is None:
        return [field.required(path, why)]
    if config.get("clientIP") is None:
        return [field.required(f"{path}.clientIP", why)]
    timeout = config["clientIP"].get("timeoutSeconds")
    if timeout is None:
        return [field.required(f"{path}.clientIP.timeoutSeconds", why)]
    if 0 < timeout <= _LONGEST_AFFINITY:
        return []
    detail = f"must be greater than 0 and less than {_LONGEST_AFFINITY}"
    return [field.invalid(f"{path}.clientIP.timeoutSeconds", timeout, detail)]


def _validate_external_ips(spec: Spec, old: Spec) -> list[FieldError]:
    errors, known = [], old.get("externalIPs") or ()
    for index, address in enumerate(spec.get("externalIPs") or ()):
        path = f"spec.externalIPs[{index}]"
        errors += addresses.validate_legacy(address, path, known) or addresses.validate_endpoint(address, path)
    return errors


def _validate_port_sets(spec: Spec) -> list[FieldError]:
    """The errors for node ports of ClusterIP services, and for duplicate ports."""
    errors, every = [], list(enumerate(service_types.ports(spec)))
    if spec.get("type") == CLUSTER_IP:
        why = "may not be used when `type` is 'ClusterIP'"
        errors += [
            field.forbidden(f"spec.ports[{index}].nodePort", why) for index, port in every if port.get("nodePort")
        ]
    seen: set[tuple[str, str, int]] = set()
    for index, port in every:
        key = ("nodePort", port.get("protocol", ""), port.get("nodePort") or 0)
        if key[2] and key in seen:
            errors.append(field.duplicate(f"spec.ports[{index}].nodePort", key[2]))
        seen.add(key)
    for index, port in every:
        key = ("port", port.get("protocol", ""), port.get("port", 0))
        if key in seen:
            shown = internal.form("core.ServicePort", {"protocol": key[1], "port": key[2]})
            errors.append(field.duplicate(f"spec.ports[{index}]", shown))
        seen.add(key)
    return errors


def _validate_source_ranges(service: Object, old: Object | None) -> list[FieldError]:
    spec, is_balancer = service["spec"], service["spec"].get("type") == LOAD_BALANCER
    if spec.get("loadBalancerSourceRanges"):
        path = "spec.LoadBalancerSourceRanges"
        errors = [] if is_balancer else [field.forbidden(path, _FOR_LOAD_BALANCERS)]
        known = [one.strip() for one in objects.get(old or {}, "spec.loadBalancerSourceRanges") or ()]
        for index, block in enumerate(spec["loadBalancerSourceRanges"]):
            errors += addresses.validate_legacy_cidr(block.strip(), f"{path}[{index}]", known)
        return errors
    annotations = service["metadata"].get("annotations") or {}
    if _SOURCE_RANGES not in annotations:
        return []
    path, text = f"metadata.annotations[{_SOURCE_RANGES}]", annotations[_SOURCE_RANGES]
    errors = [] if is_balancer else [field.forbidden(path, _FOR_LOAD_BALANCERS)]
    is_old = text == ((old or {"metadata": {}})["metadata"].get("annotations") or {}).get(_SOURCE_RANGES)
    if text.strip() and not is_old:
        for block in text.strip().split(","):
            errors += addresses.validate_legacy_cidr(block.strip(), path)
    return errors


def _validate_load_balancer(spec: Spec) -> list[FieldError]:
    is_set, is_balancer = spec.get("allocateLoadBalancerNodePorts") is not None, spec.get("type") == LOAD_BALANCER
    if is_set and not is_balancer:
        return [field.forbidden("spec.allocateLoadBalancerNodePorts", _FOR_LOAD_BALANCERS)]
    # As in kube-apiserver, the path of this error lacks `spec`.
    return [field.required("allocateLoadBalancerNodePorts")] if is_balancer and not is_set else []


def validate_class(spec: Spec) -> list[FieldError]:
    """The errors of loadBalancerClass, which LoadBalancer services alone may have."""
    name = spec.get("loadBalancerClass")
    if name is None:
        return []
    if spec.get("type") != LOAD_BALANCER:
        return [field.forbidden("spec.loadBalancerClass", _FOR_LOAD_BALANCERS)]
    return _validate_qualified(name, "spec.loadBalancerClass")


def _validate_external_policy(spec: Spec) -> list[FieldError]:
    path, policy = "spec.externalTrafficPolicy", spec.get("externalTrafficPolicy") or ""
    if service_types.is_externally_accessible(spec):
        errors = values.required_one_of(spec, "spec", "externalTrafficPolicy", _TRAFFIC_POLICIES)
    else:
        why = "may only be set for externally-accessible services"
        errors = [field.invalid(path, policy, why)] if policy else []
    return errors + _validate_health_port(spec)


def _validate_health_port(spec: Spec) -> list[FieldError]:
    path, port = "spec.healthCheckNodePort", spec.get("healthCheckNodePort") or 0
    if service_types.needs_health_check(spec):
        return ports.validate_number(port, path) if port else [field.required(path)]
    why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    return [field.invalid(path, port, why)] if port else []


def _validate_internal_policy(spec: Spec) -> list[FieldError]:
    path, policy = "spec.internalTrafficPolicy", spec.get("internalTrafficPolicy")
    if policy is None:
        needs_one = spec.get("type") in service_types.TYPES and spec.get("type") != EXTERNAL_NAME
        return [field.required(path)] if needs_one else []
    return [] if policy in _TRAFFIC_POLICIES else [field.not_supported(path, policy, _TRAFFIC_POLICIES)]


def validate_balancer_status(new: Object, old: Object, spec: Spec) -> list[FieldError]:
    """The errors of status.loadBalancer, which a cloud controller reports."""
    path = "status.loadBalancer.ingress"
    entries = objects.get(new, "status.loadBalancer.ingress") or ()
    if entries and spec.get("type") != LOAD_BALANCER:
        return [field.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")]
    known = [one["ip"] for one in objects.get(old, "status.loadBalancer.ingress") or () if one.get("ip")]
    return [error for index, one in enumerate(entries) for error in _validate_entry(one, f"{path}[{index}]", known)]


def _validate_entry(entry: Mapping[str, Any], path: str, known: Sequence[str]) -> list[FieldError]:
    address, mode = entry.get("ip") or "", entry.get("ipMode")
    errors = addresses.validate_legacy(address, f"{path}.ip", known) if address else []
    if mode is None:
        if address:
            errors.append(field.required(f"{path}.ipMode", "must be specified when `ip` is set"))
    elif not address:
        errors.append(field.forbidden(f"{path}.ipMode", "may not be specified when `ip` is not set"))
    elif mode not in _IP_MODES:
        errors.append(field.not_supported(f"{path}.ipMode", mode, _IP_MODES))
    return errors + validate_balancer_host(entry.get("hostname") or "", f"{path}.hostname")


def validate_balancer_host(host: str, path: str) -> list[FieldError]:
    """The errors of the host name of a load balancer, which may not be an IP address."""
    if not host:
        return []
    errors = field.invalid_each(path, host, names.DNS1123_SUBDOMAIN.check(host))
    if addresses.parse(host) is not None:
        errors.append(field.invalid(path, host, "must be a DNS name, not an IP address"))
    return errors

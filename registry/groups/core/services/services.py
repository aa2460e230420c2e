"""Services: a name and an address for a set of pods, which a label selector chooses.

The allocation package allocates addresses and node ports.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.fields import text
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.error_history import warned_until
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.services import service_read_defaults, service_validation, service_warnings
from aio_apiserver.registry.groups.core.services.parts import service_changes, service_types
from aio_apiserver.registry.groups.core.services.parts.service_types import CLUSTER_IP, LOAD_BALANCER
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE


def _cluster_ip(service: Object, _now: float) -> str:
    return next(iter(objects.get(service, "spec.clusterIPs", ())), NONE)


def _external_ip(service: Object, _now: float) -> str:
    external = objects.get(service, "spec.externalIPs", [])
    match objects.get(service, "spec.type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or NONE
        case "LoadBalancer":
            balanced = formats.addresses(objects.get(service, "status.loadBalancer.ingress", ()))
            return ",".join([*([balanced] if balanced else []), *external]) or "<pending>"
        case "ExternalName":
            return str(objects.get(service, "spec.externalName", ""))
        case _:
            return "<unknown>"


def _ports(service: Object, _now: float) -> str:
    return ",".join(map(_port, objects.get(service, "spec.ports", ()))) or NONE


def _port(port: Mapping[str, Any]) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}"


COLUMNS = table_of(
    NAME,
    (Column(name="Type", field="core.v1.ServiceSpec.type"), value("spec.type")),
    (Column(name="Cluster-IP", field="core.v1.ServiceSpec.clusterIP"), _cluster_ip),
    (Column(name="External-IP", field="core.v1.ServiceSpec.externalIPs"), _external_ip),
    (Column(name="Port(s)", field="core.v1.ServiceSpec.ports"), _ports),
    AGE,
    (Column(name="Selector", field="core.v1.ServiceSpec.selector", priority=1), formats.labels("spec.selector")),
)


_AFFINITY_SECONDS = 10800


def _default_status(service: Object) -> None:
    if service["spec"].get("type") != LOAD_BALANCER:
        return
    for entry in objects.get(service, "status.loadBalancer.ingress") or ():
        if entry.get("ip"):
            entry.setdefault("ipMode", "VIP")


class ServiceStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults of each type, and removal of fields that a new type does not have."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["type"] = spec.get("type") or CLUSTER_IP
        _default_affinity(spec)
        for port in service_types.ports(spec):
            port["protocol"] = port.get("protocol") or "TCP"
            if not port.get("targetPort"):
                port["targetPort"] = port.get("port", 0)
        if service_types.is_externally_accessible(spec):
            spec["externalTrafficPolicy"] = spec.get("externalTrafficPolicy") or "Cluster"
        if spec["type"] in service_types.TYPES and service_types.needs_cluster_ip(spec):
            spec.setdefault("internalTrafficPolicy", "Cluster")
        if spec["type"] == LOAD_BALANCER:
            spec.setdefault("allocateLoadBalancerNodePorts", True)
        _default_status(obj)

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        service_changes.drop_unused(new["spec"], old["spec"])
        if new["spec"].get("type") != LOAD_BALANCER and new.get("status"):
            new["status"]["loadBalancer"] = {}

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + service_validation.validate(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + service_validation.validate_update(new, old)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return service_warnings.of_spec(obj)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return service_warnings.of_spec(new)

    def canonicalize(self, obj: Object) -> None:
        """Make clusterIP and clusterIPs agree, and remove internalTrafficPolicy from ExternalName services.

        Objects in storage can have an internalTrafficPolicy that older servers set by default.
        """
        service_changes.settle_cluster_ips(obj["spec"])
        if not service_types.needs_cluster_ip(obj["spec"]):
            obj["spec"].pop("internalTrafficPolicy", None)


def _default_affinity(spec: Object) -> None:
    affinity = spec["sessionAffinity"] = spec.get("sessionAffinity") or "None"
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP" and objects.get(spec, "sessionAffinityConfig.clientIP.timeoutSeconds") is None:
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}


class ServiceStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of load balancers. As in kube-apiserver, an update of a missing service's status creates the
    service.
    """

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        obj.pop("status", None)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + service_validation.validate(obj)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return service_warnings.of_spec(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        return errors + service_validation.validate_balancer_status(new, old, new["spec"])

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return service_warnings.of_status(new)


_OLD_NAMES = {"check_name": names.is_dns1035_label}

SERVICES = Kind(
    group="",
    plural="services",
    kind="Service",
    stored_under="services/specs",
    short_names=("svc",),
    categories=("all",),
    strategy=ServiceStrategy(has_status=True, allows_create_on_update=True, check_name=names.is_dns_label),
    status_strategy=ServiceStatusStrategy(allows_create_on_update=True, check_name=names.is_dns_label),
    returns_deleted_object=True,
    decorate=service_read_defaults.complete,
    fields={"spec.clusterIP": text("spec.clusterIP"), "spec.type": text("spec.type")},
    columns=COLUMNS,
    history=(before((1, 36), strategy=_OLD_NAMES, status_strategy=_OLD_NAMES),),
    warnings=(
        warned_until((1, 35), r"spec\.trafficDistribution: .* is deprecated"),
        warned_until((1, 36), r"spec\.externalIPs is deprecated and may no longer be implemented.*"),
    ),
)

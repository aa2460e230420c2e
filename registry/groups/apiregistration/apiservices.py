"""APIServices: name the server of an API group version: this server, or an aggregated one behind a service."""

import base64
from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import domains, field, names, ports
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1035_LABEL, DNS1123_SUBDOMAIN
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of

_STATUSES = ("True", "False", "Unknown")


class APIServiceStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of APIServices. A local APIService is available from its creation."""

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        if objects.get(obj, "spec.service") is None:
            condition = {
                "type": "Available",
                "status": "True",
                "lastTransitionTime": timestamp(context.now),
                "reason": "Local",
                "message": "Local APIServices are always available",
            }
            obj["status"] = {"conditions": [condition]}

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        return super().validate(context, obj) + _validate_names(obj["metadata"], spec) + _validate_spec(spec)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + self.validate_again(context, new)


def _validate_names(metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> list[FieldError]:
    """Both the name and generateName must be the group version."""
    wanted = f"{spec.get('version') or ''}.{spec.get('group') or ''}"
    why = f'must be `spec.version+"."+spec.group`: {quote(wanted)}'
    given = ((member, metadata.get(member)) for member in ("generateName", "name"))
    return [
        field.invalid(f"metadata.{member}", name, why)
        for member, name in given
        if name and name != wanted and not names.is_path_segment(name, member == "generateName")
    ]


def _validate_spec(spec: Mapping[str, Any]) -> list[FieldError]:
    errors, group, version = [], spec.get("group") or "", spec.get("version") or ""
    if group:
        errors += domains.validate_format(group, DNS1123_SUBDOMAIN, "spec.group")
    elif version != "v1":
        why = "only v1 may have an empty group and it better be legacy kube"
        errors.append(field.required("spec.group", why))
    errors += domains.validate_format(version, DNS1035_LABEL, "spec.version")
    for name, most in (("groupPriorityMinimum", 20_000), ("versionPriority", 1_000)):
        number = spec.get(name) or 0
        if not 0 < number <= most:
            errors.append(field.invalid(f"spec.{name}", number, f"must be positive and less than {most}"))
    return errors + (_validate_local(spec) if spec.get("service") is None else _validate_service(spec))


def _validate_local(spec: Mapping[str, Any]) -> list[FieldError]:
    errors = []
    if spec.get("caBundle"):
        shown = f"{len(base64.b64decode(spec['caBundle']))} bytes"
        errors.append(field.invalid("spec.caBundle", shown, "local APIServices may not have a caBundle"))
    if spec.get("insecureSkipTLSVerify"):
        why = "local APIServices may not have insecureSkipTLSVerify"
        errors.append(field.invalid("spec.insecureSkipTLSVerify", True, why))
    return errors


def _validate_service(spec: Mapping[str, Any]) -> list[FieldError]:
    service, path = spec["service"], "spec.service"
    errors = [field.required(f"{path}.{name}") for name in ("namespace", "name") if not service.get(name)]
    port = service.get("port") or 0
    if messages := ports.check_port_number(port):
        errors.append(field.invalid(f"{path}.port", port, f"port is not valid: {', '.join(messages)}"))
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        why = "may not be true if caBundle is present"
        errors.append(field.invalid("spec.insecureSkipTLSVerify", True, why))
    return errors


class APIServiceStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status, which says whether the aggregated server answers."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        return errors + [
            field.not_supported(f"status.conditions[{index}].status", one.get("status") or "", _STATUSES)
            for index, one in enumerate(objects.get(new, "status.conditions") or ())
            if one.get("status") not in _STATUSES
        ]


def _service_cell(api: Object, _now: float) -> str:
    service = objects.get(api, "spec.service")
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _is_available(api: Object, _now: float) -> str:
    found = formats.condition(api, "Available")
    if found is None:
        return "Unknown"
    status, reason = found.get("status", ""), found.get("reason", "")
    return f"{status} ({reason})" if reason and status != "True" else str(status)


_COLUMNS = table_of(
    NAME,
    (Column(name="Service", text="The reference to the service that hosts this API endpoint."), _service_cell),
    (Column(name="Available", text="Whether this service is available."), _is_available),
    AGE,
)

APISERVICES = Kind(
    group="apiregistration.k8s.io",
    is_stored_as_json=True,
    plural="apiservices",
    kind="APIService",
    resets={"status": WITH_METADATA},
    stored_under="apiregistration.k8s.io/apiservices",
    is_namespaced=False,
    categories=("api-extensions",),
    strategy=APIServiceStrategy(
        has_status=True,
        allows_unconditional_update=False,
        check_name=names.is_path_segment,
        allows_any_finalizer=True,
    ),
    status_strategy=APIServiceStatusStrategy(
        keeps_metadata=True, allows_unconditional_update=False, allows_any_finalizer=True
    ),
    columns=_COLUMNS,
)

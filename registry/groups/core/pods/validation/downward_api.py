"""Downward API: validates fieldRef and resourceFieldRef, with which containers and volumes refer to their own pod.
Pure.
"""

import re
from collections.abc import Mapping, Sequence

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.validation import rules
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

IN_VOLUMES = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
IN_ENVIRONMENT = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_KNOWN = frozenset({*IN_VOLUMES, *IN_ENVIRONMENT, "spec.restartPolicy", "spec.schedulerName", "status.phase"})
_ALIASES = {"spec.host": "spec.nodeName"}
_SUBSCRIPTED = frozenset({"metadata.annotations", "metadata.labels"})
_SUBSCRIPT = re.compile(r"(.+?)\['(.*)'\]", re.DOTALL)

_RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES = ("requests.hugepages-", "limits.hugepages-")
_BYTES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_DIVISORS: Mapping[str, tuple[Sequence[str], str]] = {
    "cpu": (("1m", "1"), "only divisor's values 1m and 1 are supported with the cpu resource"),
    "memory": (_BYTES, f"only divisor's values {', '.join(_BYTES)} are supported with the memory resource"),
    "ephemeral-storage": (
        _BYTES,
        f"only divisor's values {', '.join(_BYTES)} are supported with the local ephemeral storage resource",
    ),
    "hugepages-": (_BYTES, f"only divisor's values {', '.join(_BYTES)} are supported with the hugepages resource"),
}
"""For each resource: the allowed divisors, and the message for other ones."""


def validate_field(reference: Obj, path: str, *, allowed: Sequence[str]) -> Errors:
    """The errors of a fieldRef to a field of the pod, or to one of its labels or annotations."""
    for member in ("apiVersion", "fieldPath"):
        if not reference.get(member):
            return [field.required(f"{path}.{member}")]
    name, version = reference["fieldPath"], reference["apiVersion"]
    subscripted = _SUBSCRIPT.fullmatch(name)
    unknown = _unknown(name, version, subscripted)
    if unknown:
        return [field.invalid(f"{path}.fieldPath", name, f"error converting fieldPath: {unknown}")]
    if subscripted is not None:
        key = subscripted[2].lower() if subscripted[1] == "metadata.annotations" else subscripted[2]
        return rules.qualified_name(key, path)
    name = _ALIASES.get(name, name)
    return [] if name in allowed else [field.not_supported(f"{path}.fieldPath", name, allowed)]


def _unknown(name: str, version: str, subscripted: re.Match[str] | None) -> str:
    """The reason why a text names no field; empty when it names one."""
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscripted is not None:
        is_known = subscripted[1] in _SUBSCRIPTED
        return "" if is_known else f"field label does not support subscript: {name}"
    return "" if name in _KNOWN or name in _ALIASES else f"field label not supported: {name}"


def validate_resource(reference: Obj, path: str, *, is_in_volume: bool) -> Errors:
    """The errors of a resourceFieldRef to a request or limit. In a volume it has to name the container."""
    resource = reference.get("resource", "")
    errors: Errors = []
    if is_in_volume and not reference.get("containerName"):
        errors.append(field.required(f"{path}.containerName"))
    elif not resource:
        errors.append(field.required(f"{path}.resource"))
    elif resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        errors.append(field.not_supported(f"{path}.resource", resource, _RESOURCES))
    return errors + _validate_divisor(resource, reference.get("divisor") or "0", f"{path}.divisor")


def _validate_divisor(resource: str, divisor: str, path: str) -> Errors:
    name = "hugepages-" if resource.startswith(_HUGE_PAGES) else resource.partition(".")[2]
    if divisor == "0" or name not in _DIVISORS or (name != "hugepages-" and resource not in _RESOURCES):
        return []
    supported, why = _DIVISORS[name]
    return [] if divisor in supported else [field.invalid(path, resource, why)]

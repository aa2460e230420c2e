"""Rules: the checks that many fields of pods share, such as required fields, enums, names, paths and file modes.
Pure.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError

Obj = Mapping[str, Any]
Errors = list[FieldError]

_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_BACKSTEP = "must not contain '..'"
_MAX_ID = 2**31 - 1

CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
"""The lists of containers, in the order of kube-apiserver's visitor."""


def each_container(spec: Obj, path: str) -> Iterator[tuple[Obj, str]]:
    """Every container of a pod with its path."""
    for name in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(name) or ()):
            yield container, f"{path}.{name}[{index}]"


def member(obj: Obj | None, name: str) -> Obj:
    """The map at a member; empty when it is missing."""
    return (obj or {}).get(name) or {}


def required(obj: Obj, path: str, *members: str) -> Errors:
    """The errors for members that are missing or empty."""
    return [field.required(f"{path}.{name}") for name in members if not obj.get(name)]


def label(value: str, path: str) -> Errors:
    """The errors of a DNS label."""
    wrong = names.is_dns_label(value, False)
    return field.invalid_each(path, value, wrong) if wrong else []


def subdomain(value: str, path: str) -> Errors:
    """The errors of a DNS subdomain."""
    wrong = names.is_dns_subdomain(value, False)
    return field.invalid_each(path, value, wrong) if wrong else []


def qualified_name(value: str, path: str) -> Errors:
    """The errors of a qualified name, such as a label key."""
    wrong = names.check_qualified_name(value)
    return field.invalid_each(path, value, wrong) if wrong else []


def required_word(obj: Obj, path: str, member: str, supported: Collection[str]) -> Errors:
    """The error for a required member whose value is not among the supported ones."""
    value = obj.get(member)
    if not value:
        return [field.required(f"{path}.{member}")]
    return [] if value in supported else [field.not_supported(f"{path}.{member}", value, supported)]


def word(obj: Obj, path: str, member: str, supported: Collection[str]) -> Errors:
    """The same error for a member that may be missing."""
    value = obj.get(member)
    if value is None or value in supported:
        return []
    return [field.not_supported(f"{path}.{member}", value, supported)]


def identity(obj: Obj, path: str, member: str) -> Errors:
    """The error of a user or group ID, which may be missing."""
    value = obj.get(member)
    if value is None:
        return []
    return identity_number(value, f"{path}.{member}")


def identity_number(value: int, path: str) -> Errors:
    if 0 <= value <= _MAX_ID:
        return []
    return [field.invalid(path, value, f"must be between 0 and {_MAX_ID}, inclusive")]


def file_mode(obj: Obj, path: str, member: str) -> Errors:
    """The error of a file mode."""
    value = obj.get(member)
    return [] if value is None or 0 <= value <= 0o777 else [field.invalid(f"{path}.{member}", value, _MODE)]


def path_without_backsteps(value: str, path: str) -> Errors:
    """The error for a path with `..`."""
    return [field.invalid(path, value, _BACKSTEP)] if ".." in value.split("/") else []


def relative_path(value: str, path: str) -> Errors:
    """The errors of a path that has to be relative and without `..`."""
    errors = [field.invalid(path, value, "must be a relative path")] if value.startswith("/") else []
    return errors + path_without_backsteps(value, path)


def local_path(value: str, path: str) -> Errors:
    """The same errors, and one for a name that begins with `..`. Volumes reserve such names."""
    errors = relative_path(value, path)
    if value.startswith("..") and not value.startswith("../"):
        errors.append(field.invalid(path, value, "must not start with '..'"))
    return errors

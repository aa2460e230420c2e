"""Name validation: validates the names, the group and the version names of a definition. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError

_MIXED_CASE = "may have mixed case, but should otherwise match: "


def validate(given: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors of the given names."""
    found = []
    for name in ("plural", "singular"):
        found += _validate_label(given.get(name) or "", f"{path}.{name}")
    for name in ("kind", "listKind"):
        value = given.get(name) or ""
        wrong = names.DNS1035_LABEL.check(value.lower()) if value else []
        if wrong:
            found.append(field.invalid(f"{path}.{name}", value, _MIXED_CASE + ",".join(wrong)))
    for index, value in enumerate(given.get("shortNames") or ()):
        found += _validate_label(value, f"{path}.shortNames[{index}]", may_be_empty=False)
    kind = given.get("kind")
    if kind and kind == given.get("listKind"):
        found.append(field.invalid(f"{path}.listKind", kind, "kind and listKind may not be the same"))
    for index, value in enumerate(given.get("categories") or ()):
        found += _validate_label(value, f"{path}.categories[{index}]", may_be_empty=False)
    return found


def _validate_label(value: str, path: str, *, may_be_empty: bool = True) -> list[FieldError]:
    if not value and may_be_empty:
        return []
    wrong = names.DNS1035_LABEL.check(value)
    return [field.invalid(path, value, ",".join(wrong))] if wrong else []


def validate_required(given: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors for missing names."""
    needed = ("plural", "singular", "kind", "listKind")
    return [field.required(f"{path}.{name}") for name in needed if not given.get(name)]


def validate_group(group: str, path: str) -> list[FieldError]:
    """The errors of a group."""
    if not group:
        return [field.required(path)]
    wrong = names.DNS1123_SUBDOMAIN.check(group)
    if wrong:
        return [field.invalid(path, group, ",".join(wrong))]
    return [] if "." in group else [field.invalid(path, group, "should be a domain with at least one dot")]


def validate_version(version: str, path: str) -> list[FieldError]:
    """The errors of the name of a version."""
    wrong = names.DNS1035_LABEL.check(version)
    return [field.invalid(path, version, ",".join(wrong))] if wrong else []

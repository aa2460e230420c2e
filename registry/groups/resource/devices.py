"""Devices: validates the devices of a ResourceSlice: attributes, capacity, counters, taints and nodes. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.validation import field, internal
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.core.pods.validation import affinity
from aio_apiserver.registry.groups.resource import capacities, device_names, device_parts, device_taints, lists

Part = Mapping[str, Any]

_MOST_ATTRIBUTES_AND_CAPACITIES = 32
_MOST_VALUES = 48
_MOST_TAINTS = 16
_MOST_COUNTER_SETS = 2
_MOST_COUNTERS = 32
_LONGEST_COUNTER = 63
_LONGEST_VALUE = 64
_VALUES = ("bool", "int", "string", "version")
LIST_VALUES = ("bools", "ints", "strings", "versions")
"""The attributes with several values."""
_PLACES = ("nodeName", "nodeSelector", "allNodes")
_NUMBER = r"(0|[1-9]\d*)"
_PRERELEASE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?", re.ASCII
)


def validate(device: Part, path: str, *, old: Part | None, has_own_place: bool) -> list[FieldError]:
    """The errors of a device. `has_own_place`: the slice has perDeviceNodeSelection."""
    errors = device_names.validate_label(device.get("name") or "", f"{path}.name")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > _MOST_ATTRIBUTES_AND_CAPACITIES:
        why = f"the total number of attributes and capacities must not exceed {_MOST_ATTRIBUTES_AND_CAPACITIES}"
        errors.append(field.invalid(path, count, why))
    if len(attributes) > _MOST_VALUES:
        why = f"the total number of attribute values must not exceed {_MOST_VALUES}"
        errors.append(field.invalid(path, len(attributes), why))
    errors += _validate_map(attributes, f"{path}.attributes", _validate_attribute)
    check = capacities.validate_shared if device.get("allowMultipleAllocations") else capacities.validate_alone
    errors += _validate_map(capacity, f"{path}.capacity", check)
    taints = device.get("taints") or []
    if old is None or taints != (old.get("taints") or []):
        errors += lists.validate_list(taints, f"{path}.taints", _MOST_TAINTS, device_taints.validate_taint)
    errors += lists.validate_set(
        device.get("consumesCounters") or (),
        f"{path}.consumesCounters",
        _MOST_COUNTER_SETS,
        lambda one, at: validate_counters(one, at, name="counterSet"),
        key=lambda one: one.get("counterSet") or "",
    )
    errors += _validate_place(device, path) if has_own_place else _validate_no_place(device, path)
    return errors + device_parts.validate_binding(device, path)


def _validate_map(items: Mapping[str, Part], path: str, check: lists.Check[Part]) -> list[FieldError]:
    longest = device_names.LONGEST_KEY
    return lists.validate_map(items, path, None, check, check_key=device_names.validate_qualified, longest=longest)


def _validate_attribute(attribute: Part, path: str) -> list[FieldError]:
    given = [name for name in (*_VALUES, *LIST_VALUES) if attribute.get(name) is not None]
    errors, text, version = [], attribute.get("string"), attribute.get("version")
    if text is not None:
        errors += _validate_length(text, f"{path}.string")
    if version is not None:
        if not _SEMVER.fullmatch(version):
            why = "must be a string compatible with semver.org spec 2.0.0"
            errors.append(field.invalid(f"{path}.version", version, why))
        errors += _validate_length(version, f"{path}.version")
    if len(given) == 1:
        return errors
    shown = internal.form("resource.DeviceAttribute", attribute) if given else ""
    return [*errors, field.invalid(path, shown, "exactly one value must be specified")]


def _validate_length(value: str, path: str) -> list[FieldError]:
    return [field.too_long(path, _LONGEST_VALUE)] if len(value.encode()) > _LONGEST_VALUE else []


def validate_counters(part: Part, path: str, *, name: str) -> list[FieldError]:
    """The errors of a set of counters. `name` is the member with its name."""
    text, counters = part.get(name) or "", part.get("counters") or {}
    here = f"{path}.{name}"
    errors = device_names.validate_label(text, here) if text else [field.required(here)]
    if not counters:
        return [*errors, field.required(f"{path}.counters")]
    return errors + lists.validate_map(
        counters,
        f"{path}.counters",
        _MOST_COUNTERS,
        lambda _counter, _at: [],
        check_key=device_names.validate_label,
        longest=_LONGEST_COUNTER,
    )


def _validate_place(device: Part, path: str) -> list[FieldError]:
    errors, given = [], []
    name, selector, everywhere = (device.get(one) for one in _PLACES)
    if name is not None and not name:
        errors.append(field.invalid(f"{path}.nodeName", name, "must not be empty"))
    elif name is not None:
        given.append("`nodeName`")
        errors += device_names.validate_domain(name, f"{path}.nodeName")
    if selector is not None:
        given.append("`nodeSelector`")
        errors += affinity.validate_node_selector(selector, f"{path}.nodeSelector")
    if everywhere is False:
        errors.append(field.invalid(f"{path}.allNodes", False, "must be either unset or set to true"))
    elif everywhere:
        given.append("`allNodes`")
    why = (
        "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to "
        "true in the ResourceSlice spec"
    )
    if not given:
        errors.append(field.required(path, why))
    elif len(given) > 1:
        errors.append(field.invalid(path, f"{{{', '.join(given)}}}", why))
    return errors


def _validate_no_place(device: Part, path: str) -> list[FieldError]:
    if all(device.get(one) is None for one in _PLACES):
        return []
    why = (
        "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
        "ResourceSlice spec"
    )
    return [field.invalid(path, None, why)]

"""Claim status: validates the status of a ResourceClaim: allocation, consumers, and device status of the drivers.
Pure.
"""

from collections.abc import Mapping, Sequence
from ipaddress import ip_interface
from typing import Any

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import addresses, field, internal, meta_conditions, object_meta, values
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.core.pods.validation import affinity
from aio_apiserver.registry.groups.resource import device_names, device_parts, device_requests, lists
from aio_apiserver.registry.groups.resource.device_requests import Names

Part = Mapping[str, Any]

_MOST_USERS = 256
_MOST_RESULTS = 32
_MOST_CONDITIONS = 8
_MOST_ADDRESSES = 16
_LONGEST_DATA = 10 * 1024
_LONGEST_INTERFACE = 256
_LONGEST_HARDWARE = 128
_SOURCES = ("FromClaim", "FromClass")
_NO_ADDRESS = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"


def drop_deallocated(new: dict[str, Any], old: Part) -> None:
    """Remove the status of devices that are no longer allocated, in place."""
    freed = _allocated(old) - _allocated(new)
    devices = [one for one in new.get("devices") or () if _device_id(one) not in freed]
    if devices:
        new["devices"] = devices
    else:
        new.pop("devices", None)


def _allocated(status: Part) -> set[tuple[str, ...]]:
    devices = (status.get("allocation") or {}).get("devices") or {}
    return {_device_id(result) for result in devices.get("results") or ()}


def _device_id(part: Part) -> tuple[str, ...]:
    return tuple(part.get(name) or "" for name in ("driver", "pool", "device", "shareID"))


def _device_struct(part: Part) -> Mapping[str, str]:
    return dict(zip(("Driver", "Pool", "Device", "ShareID"), _device_id(part), strict=True))


def validate(claim: Part, old: Part) -> list[FieldError]:
    """The errors of a changed status."""
    status, before, path = claim.get("status") or {}, old.get("status") or {}, "status"
    names, users = device_requests.names_of(claim.get("spec") or {}), status.get("reservedFor") or ()
    errors = lists.validate_set(users, f"{path}.reservedFor", _MOST_USERS, _validate_user, key=_uid)
    known = _allocated(status)
    devices = status.get("devices") or ()
    errors += lists.validate_set(
        devices, f"{path}.devices", None, lambda one, at: _validate_device(one, at, known), key=_device_struct
    )
    errors += _validate_users(status, before, is_ending=bool(claim["metadata"].get("deletionTimestamp")))
    allocation, had = status.get("allocation"), before.get("allocation")
    if allocation is not None and had is not None:
        shown = internal.form("resource.AllocationResult", allocation)
        is_same = allocation == had
        return errors + ([] if is_same else [field.invalid(f"{path}.allocation", shown, object_meta.IMMUTABLE)])
    return errors + (_validate_allocation(allocation, f"{path}.allocation", names) if allocation is not None else [])


def _uid(user: Part) -> str:
    return user.get("uid") or ""


def _validate_user(user: Part, path: str) -> list[FieldError]:
    return [field.required(f"{path}.{name}") for name in ("resource", "name", "uid") if not user.get(name)]


def _validate_users(status: Part, old: Part, *, is_ending: bool) -> list[FieldError]:
    users, path = status.get("reservedFor") or (), "status.reservedFor"
    if not users:
        return []
    if status.get("allocation") is None:
        return [field.forbidden(path, "may not be specified when `allocated` is not set")]
    before = old.get("reservedFor") or ()
    if is_ending and any(user not in before for user in users):
        why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        return [field.forbidden(path, why)]
    return []


def _validate_allocation(allocation: Part, path: str, names: Names) -> list[FieldError]:
    devices, here = allocation.get("devices") or {}, f"{path}.devices"
    errors = lists.validate_list(
        devices.get("results") or (), f"{here}.results", _MOST_RESULTS, lambda one, at: _validate_result(one, at, names)
    )
    errors += lists.validate_list(
        devices.get("config") or (),
        f"{here}.config",
        2 * device_parts.MOST_CONFIGURATIONS,
        lambda one, at: _validate_configuration(one, at, names),
    )
    selector = allocation.get("nodeSelector")
    return errors + (affinity.validate_node_selector(selector, f"{path}.nodeSelector") if selector is not None else [])


def _validate_result(result: Part, path: str, names: Names) -> list[FieldError]:
    errors = device_requests.validate_reference(result.get("request") or "", f"{path}.request", names)
    errors += _validate_place(result, path)
    errors += device_parts.validate_binding(result, path)
    share = result.get("shareID")
    return errors + (device_names.validate_uid(share, f"{path}.shareID") if share is not None else [])


def _validate_place(part: Part, path: str) -> list[FieldError]:
    errors = device_names.validate_driver(part.get("driver") or "", f"{path}.driver")
    errors += device_names.validate_pool(part.get("pool") or "", f"{path}.pool")
    return errors + device_names.validate_label(part.get("device") or "", f"{path}.device")


def _validate_configuration(config: Part, path: str, names: Names) -> list[FieldError]:
    errors = values.required_one_of(config, path, "source", _SOURCES)
    errors += device_requests.validate_references(config, path, names)
    return errors + device_parts.validate_configuration(config, path)


def _validate_device(device: Part, path: str, known: set[tuple[str, ...]]) -> list[FieldError]:
    errors, share = _validate_place(device, path), device.get("shareID")
    if share is not None:
        errors += device_names.validate_uid(share, f"{path}.shareID")
    if _device_id(device) not in known:
        errors.append(field.invalid(path, _device_struct(device), "must be an allocated device in the claim"))
    every = device.get("conditions") or ()
    if len(every) > _MOST_CONDITIONS:
        errors.append(field.too_many(f"{path}.conditions", len(every), _MOST_CONDITIONS))
    errors += meta_conditions.validate(every, f"{path}.conditions")
    if device.get("data") is not None:
        errors += device_parts.validate_raw(device["data"], f"{path}.data", limit=_LONGEST_DATA)
    return errors + _validate_network(device.get("networkData") or {}, f"{path}.networkData")


def _validate_network(data: Part, path: str) -> list[FieldError]:
    errors = []
    for name, limit in (("interfaceName", _LONGEST_INTERFACE), ("hardwareAddress", _LONGEST_HARDWARE)):
        if len((data.get(name) or "").encode()) > limit:
            errors.append(field.too_long(f"{path}.{name}", limit))
    ips: Sequence[str] = data.get("ips") or ()
    return errors + lists.validate_set(ips, f"{path}.ips", _MOST_ADDRESSES, _validate_interface, key=str)


def _validate_interface(text: str, path: str) -> list[FieldError]:
    address, network = addresses.parse(text.partition("/")[0]), addresses.parse_cidr(text)
    if address is None or network is None:
        return [field.invalid(path, text, _NO_ADDRESS)]
    canonical = str(ip_interface(f"{address}/{network.prefixlen}"))
    return [] if text == canonical else [field.invalid(path, text, f"must be in canonical form ({quote(canonical)})")]

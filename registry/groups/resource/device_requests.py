"""Device requests: validates the requests for devices in a claim or a claim template. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.resource import device_names, device_parts, device_taints, lists

Part = Mapping[str, Any]
Names = Mapping[str, frozenset[str]]
"""The names of requests, each with the names of its subrequests."""

MOST_REQUESTS = 32
_MOST_SUBREQUESTS = 8
_MOST_CONSTRAINTS = 32
_EXACT, _ALL = "ExactCount", "All"
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"
_NO_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_NO_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'


def default(spec: Part) -> None:
    """Set the defaults of requests: one device each."""
    for request in _devices(spec).get("requests") or ():
        exactly = [request["exactly"]] if request.get("exactly") is not None else []
        for one in (*exactly, *(request.get("firstAvailable") or ())):
            if one["allocationMode"] == _EXACT:
                one["count"] = one.get("count") or 1


def _devices(spec: Part) -> Part:
    return spec.get("devices") or {}


def validate(spec: Part, path: str) -> list[FieldError]:
    """The errors of requests, constraints and driver configuration."""
    devices, here = _devices(spec), f"{path}.devices"
    names = names_of(spec)
    errors = lists.validate_set(
        devices.get("requests") or (), f"{here}.requests", MOST_REQUESTS, _validate_request, key=_name
    )
    errors += lists.validate_list(
        devices.get("constraints") or (),
        f"{here}.constraints",
        _MOST_CONSTRAINTS,
        lambda one, at: _validate_constraint(one, at, names),
    )
    return errors + lists.validate_list(
        devices.get("config") or (),
        f"{here}.config",
        device_parts.MOST_CONFIGURATIONS,
        lambda one, at: validate_references(one, at, names) + device_parts.validate_configuration(one, at),
    )


def names_of(spec: Part) -> Names:
    """The names of requests, to which other parts of the claim refer."""
    return {
        _name(request): frozenset(map(_name, request.get("firstAvailable") or ()))
        for request in _devices(spec).get("requests") or ()
    }


def _name(request: Part) -> str:
    return request.get("name") or ""


def _validate_request(request: Part, path: str) -> list[FieldError]:
    errors = device_names.validate_label(_name(request), f"{path}.name")
    exactly, first = request.get("exactly"), request.get("firstAvailable") or ()
    if exactly is None and not first:
        return [*errors, field.required(path, _ONE_OF)]
    if exactly is not None and first:
        return [*errors, field.invalid(path, None, f"{_ONE_OF}, but multiple fields are set")]
    if exactly is not None:
        return errors + _validate_wish(exactly, f"{path}.exactly")
    here = f"{path}.firstAvailable"
    return errors + lists.validate_set(first, here, _MOST_SUBREQUESTS, _validate_subrequest, key=_name)


def _validate_subrequest(request: Part, path: str) -> list[FieldError]:
    return device_names.validate_label(_name(request), f"{path}.name") + _validate_wish(request, path)


def _validate_wish(wish: Part, path: str) -> list[FieldError]:
    name, here = wish.get("deviceClassName") or "", f"{path}.deviceClassName"
    errors = device_names.validate_domain(name, here) if name else [field.required(here)]
    errors += device_parts.validate_selectors(wish.get("selectors") or (), f"{path}.selectors")
    errors += _validate_count(wish.get("allocationMode") or "", wish.get("count") or 0, path)
    tolerations = wish.get("tolerations") or ()
    return errors + lists.validate_list(tolerations, f"{path}.tolerations", None, device_taints.validate_toleration)


def _validate_count(mode: str, count: int, path: str) -> list[FieldError]:
    if mode == _ALL:
        why = f"must not be specified when allocationMode is '{mode}'"
        return [field.invalid(f"{path}.count", count, why)] if count else []
    if mode == _EXACT:
        return [] if count > 0 else [field.invalid(f"{path}.count", count, "must be greater than zero")]
    return [field.not_supported(f"{path}.allocationMode", mode, (_ALL, _EXACT))]


def _validate_constraint(constraint: Part, path: str, names: Names) -> list[FieldError]:
    errors = validate_references(constraint, path, names)
    for name in ("matchAttribute", "distinctAttribute"):
        if constraint.get(name) is not None:
            return errors + device_names.validate_fully_qualified(constraint[name], f"{path}.{name}")
    return [*errors, field.required(path, _NO_ATTRIBUTE)]


def validate_references(part: Part, path: str, names: Names) -> list[FieldError]:
    """The errors of references to requests. No reference means all requests."""
    return lists.validate_set(
        part.get("requests") or (),
        f"{path}.requests",
        MOST_REQUESTS,
        lambda name, at: validate_reference(name, at, names),
        key=str,
    )


def validate_reference(name: str, path: str, names: Names) -> list[FieldError]:
    """The errors of a reference to a request, or to one of its subrequests."""
    request, slash, subrequest = name.partition("/")
    if "/" in subrequest:
        return [field.invalid(path, name, _NO_REQUEST)]
    errors = [error for part in name.split("/") for error in device_names.validate_label(part, path)]
    is_known = request in names and (not slash or subrequest in names[request])
    return errors if is_known else [*errors, field.invalid(path, name, _NO_REQUEST)]

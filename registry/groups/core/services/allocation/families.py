"""Families: fills in ipFamilyPolicy and ipFamilies of a service from its policy, its cluster IPs and the cluster.

Must hold: a service keeps its number of families until the client changes it, also after the cluster gets a second
family.

Pure: it changes the spec in place. Raises Invalid.
"""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation import addresses, field
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.core.services.parts import service_addresses, service_types
from aio_apiserver.registry.groups.core.services.parts.service_types import (
    PREFER_DUAL_STACK,
    REQUIRE_DUAL_STACK,
    SINGLE_STACK,
    Spec,
    same,
)

_POLICY = "spec.ipFamilyPolicy"
_SERVICE = GroupKind("", "Service")


def settle(spec: dict[str, Any], old: Spec | None, *, name: str, families: Sequence[str]) -> None:
    """Fill in the policy and the families. `families` are those of the cluster, the primary one first."""
    if not service_types.needs_cluster_ip(spec) or is_unchanged_preference(spec, old):
        return
    if spec.get("ipFamilyPolicy") is None:
        spec["ipFamilyPolicy"] = _inferred_policy(spec, old)
    _refuse(name, service_addresses.validate(spec, old or {}))
    errors = [] if old is None else _settle_release(spec, old)
    errors += _validate_single_stack(spec) + _infer_families(spec, families)
    _refuse(name, errors)
    if _is_without_endpoints(spec):
        _complete(spec, families[:1], may_add=True)
        return
    _refuse(name, _validate_configured(spec, families))
    _complete(spec, families[:1], may_add=len(families) == 2)


def is_unchanged_preference(spec: Spec, old: Spec | None) -> bool:
    """Whether a service that prefers dual-stack keeps its type, addresses and families. Such an update changes nothing
    here.
    """
    if old is None or spec.get("ipFamilyPolicy") is None or old.get("type") != spec.get("type"):
        return False
    prefers = all(one.get("ipFamilyPolicy") in {None, PREFER_DUAL_STACK} for one in (spec, old))
    is_known = spec.get("type") in service_types.TYPES
    return is_known and prefers and same(spec, old, "clusterIPs") and same(spec, old, "ipFamilies")


def _inferred_policy(spec: Spec, old: Spec | None) -> str:
    if old is not None and old.get("ipFamilyPolicy") is not None:
        return str(old["ipFamilyPolicy"])
    return REQUIRE_DUAL_STACK if _is_without_endpoints(spec) else SINGLE_STACK


def _is_without_endpoints(spec: Spec) -> bool:
    """Whether the service is headless and has no selector. Its endpoints are then made by others and may be of any
    family.
    """
    return spec.get("clusterIP") == service_types.NONE and not spec.get("selector")


def _settle_release(spec: dict[str, Any], old: Spec) -> list[FieldError]:
    """Drop the second address and family when the client asks for SingleStack. Without SingleStack, dropping is an
    error.
    """
    errors = []
    for name, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        has, had = spec.get(name) or [], old.get(name) or []
        if spec["ipFamilyPolicy"] == SINGLE_STACK:
            if has == had and len(has) > 1:
                spec[name] = has[:1]
        elif has and len(has) < len(had):
            why = f"must be 'SingleStack' to release the secondary {what}"
            errors.append(field.invalid(_POLICY, spec["ipFamilyPolicy"], why))
    return errors


def _validate_single_stack(spec: Spec) -> list[FieldError]:
    if spec["ipFamilyPolicy"] != SINGLE_STACK:
        return []
    several = (
        ("cluster IPs", service_types.cluster_ips(spec)),
        ("IP families", service_types.ip_families(spec)),
    )
    why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
    return [field.invalid(_POLICY, SINGLE_STACK, why.format(what)) for what, values in several if len(values) == 2]


def _infer_families(spec: dict[str, Any], configured: Sequence[str]) -> list[FieldError]:
    """Add the families of requested addresses, where the client has not given the families."""
    errors = []
    ips = service_types.cluster_ips(spec)
    for index, ip in enumerate(ips):
        if ip == service_types.NONE:
            break
        family = addresses.family_of(ip)
        if index < len(service_types.ip_families(spec)):
            continue
        if family in configured:
            spec["ipFamilies"] = [*service_types.ip_families(spec), family]
        else:
            errors.append(
                field.invalid(f"spec.clusterIPs[{index}]", ips, f"{family} is not configured on this cluster")
            )
    return errors


def _validate_configured(spec: Spec, configured: Sequence[str]) -> list[FieldError]:
    errors = []
    if spec["ipFamilyPolicy"] == REQUIRE_DUAL_STACK and len(configured) < 2:
        why = "this cluster is not configured for dual-stack services"
        errors.append(field.invalid(_POLICY, REQUIRE_DUAL_STACK, why))
    for index, family in enumerate(service_types.ip_families(spec)):
        if family not in configured:
            errors.append(field.invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster"))
    return errors


def _complete(spec: dict[str, Any], default: Sequence[str], *, may_add: bool) -> None:
    found = list(service_types.ip_families(spec) or default)
    if may_add and len(found) == 1 and spec["ipFamilyPolicy"] != SINGLE_STACK:
        found.append(service_types.other_family(found[0]))
    spec["ipFamilies"] = found


def _refuse(name: str, errors: Sequence[FieldError]) -> None:
    if errors:
        raise invalid_of(_SERVICE, name, errors)

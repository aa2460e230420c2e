"""Service addresses: validates clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy of a service.

Pure. A service has one or two addresses, and `clusterIP` repeats the first of `clusterIPs`. ExternalName services have
none.
"""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.registry.base.validation import addresses, field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.core.services.parts import service_types
from aio_apiserver.registry.groups.core.services.parts.service_types import IPV4, IPV6, SINGLE_STACK, Spec

_IPS, _FAMILIES, _POLICY = "spec.clusterIPs", "spec.ipFamilies", "spec.ipFamilyPolicy"
_ONCE = "may not change once set"


def validate(spec: Spec, old: Spec) -> list[FieldError]:
    """The errors of the addresses, the families and their policy."""
    if not service_types.needs_cluster_ip(spec):
        return []
    errors = _validate_pair(spec) + _validate_families(spec)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _POLICIES:
        errors.append(field.not_supported(_POLICY, policy, _POLICIES))
    wrong = _validate_each(spec, service_types.cluster_ips(old))
    errors += wrong
    ips = service_types.cluster_ips(spec)
    if len(ips) > 2:
        errors.append(field.invalid(_IPS, ips, "may only hold up to 2 values"))
    return errors if wrong else errors + _validate_stacks(spec)


_POLICIES = (service_types.PREFER_DUAL_STACK, service_types.REQUIRE_DUAL_STACK, SINGLE_STACK)


def _validate_pair(spec: Spec) -> list[FieldError]:
    ip, ips = spec.get("clusterIP") or "", service_types.cluster_ips(spec)
    if not ip:
        return [field.invalid(_IPS, ips, "must be empty when `clusterIP` is not specified")] if ips else []
    if not ips:
        return [field.required(_IPS)]
    return [] if ips[0] == ip else [field.invalid(_IPS, ips, "first value must match `clusterIP`")]


def _validate_families(spec: Spec) -> list[FieldError]:
    errors, families = [], service_types.ip_families(spec)
    for index, family in enumerate(families):
        path = f"{_FAMILIES}[{index}]"
        if family not in {IPV4, IPV6}:
            errors.append(field.not_supported(path, family, (IPV4, IPV6)))
        if family in families[:index]:
            errors.append(field.duplicate(path, family))
    return errors


def _validate_each(spec: Spec, known: Sequence[str]) -> list[FieldError]:
    errors, ips = [], service_types.cluster_ips(spec)
    for index, ip in enumerate(ips):
        if index or ip != service_types.NONE:
            errors += addresses.validate_legacy(ip, f"{_IPS}[{index}]", known)
        elif len(ips) > 1:
            errors.append(field.invalid(_IPS, ips, "'None' must be the first and only value"))
    return errors


def _validate_stacks(spec: Spec) -> list[FieldError]:
    """The errors of dual-stack: one address of each family, in the order of the families."""
    ips, families, errors = service_types.cluster_ips(spec), service_types.ip_families(spec), []
    if len(ips) > 1:
        parsed = [addresses.parse(ip) for ip in ips]
        if None in parsed:
            # An invalid address passes the checks above only when the old service has it, for example `None`.
            index = parsed.index(None)
            what = f"failed to check for dual stack with error:invalid IP[{index}]: {ips[index]}"
            errors.append(field.internal(_IPS, what))
        if None in parsed or len({addresses.is_v6(ip) for ip in ips}) < 2:
            errors.append(field.invalid(_IPS, ips, "may specify no more than one IP for each IP family"))
    if service_types.is_headless(spec):
        return errors
    for index, (ip, family) in enumerate(zip(ips, families, strict=False)):
        if family in {IPV4, IPV6} and addresses.is_v6(ip) != (family == IPV6):
            why = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            errors.append(field.invalid(f"{_IPS}[{index}]", ip, why))
    return errors


def validate_change(new: Spec, old: Spec) -> list[FieldError]:
    """The errors of changed addresses. The secondary address may come and go; the primary one changes with headless
    services alone.
    """
    if not service_types.needs_cluster_ip(new) or not service_types.needs_cluster_ip(old):
        return []
    is_headless, was_headless = service_types.is_headless(new), service_types.is_headless(old)
    errors = [] if is_headless and was_headless else _validate_ips_change(new, old)
    return errors if is_headless or was_headless else errors + _validate_families_change(new, old)


def _validate_ips_change(new: Spec, old: Spec) -> list[FieldError]:
    has, had = service_types.cluster_ips(new), service_types.cluster_ips(old)
    shown = new.get("clusterIPs")
    if len(has) == len(had):
        changed = [index for index, (one, other) in enumerate(zip(has, had, strict=True)) if one != other]
        return [field.invalid(f"{_IPS}[{index}]", shown, _ONCE) for index in changed]
    errors = []
    if len(has) < len(had) and not has:
        errors.append(field.invalid(f"{_IPS}[0]", shown, "primary clusterIP can not be unset"))
    if has and had and has[0] != had[0]:
        errors.append(field.invalid(f"{_IPS}[0]", shown, _ONCE))
    if len(has) < len(had) and len(has) == 1:
        errors += _validate_release(new, "must be set to 'SingleStack' when releasing the secondary clusterIP")
    return errors


def _validate_families_change(new: Spec, old: Spec) -> list[FieldError]:
    has, had = service_types.ip_families(new), service_types.ip_families(old)
    path, shown = f"{_FAMILIES}[0]", new.get("ipFamilies")
    if len(has) == len(had):
        return [field.invalid(path, shown, _ONCE) for one, other in zip(has, had, strict=True) if one != other]
    errors = []
    if len(has) < len(had) and not service_types.cluster_ips(new):
        errors.append(field.invalid(path, shown, "primary ipFamily can not be unset"))
    if has and had and has[0] != had[0]:
        # As in kube-apiserver, the error shows the value of clusterIPs, not of ipFamilies.
        errors.append(field.invalid(path, new.get("clusterIPs"), _ONCE))
    if len(has) < len(had) and len(has) == 1:
        errors += _validate_release(new, "must be set to 'SingleStack' when releasing the secondary ipFamily")
    return errors


def _validate_release(spec: Spec, why: str) -> list[FieldError]:
    policy: Any = spec.get("ipFamilyPolicy")
    return [] if policy == SINGLE_STACK else [field.invalid(_POLICY, policy, why)]

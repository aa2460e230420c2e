"""Request validation: validates the spec, conditions and certificate of a CertificateSigningRequest. Pure."""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang import pem
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.certificates import signers

APPROVED, DENIED, FAILED = "Approved", "Denied", "Failed"
CONDITIONS = "status.conditions"

_CERTIFICATE = "status.certificate"
_STATUSES = ("False", "True", "Unknown")
_SHORTEST_SECONDS = 600
_USAGES = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)


def conditions_of(request: Object, kind: str = "") -> Sequence[Mapping[str, Any]]:
    """All conditions, or those of one type."""
    every = objects.get(request, CONDITIONS) or ()
    return [one for one in every if one.get("type") == kind] if kind else every


def validate(request: Object, old: Object | None) -> list[FieldError]:
    """The errors of a request. Some violations of an old request may stay."""
    spec, before = request.get("spec") or {}, (old or {}).get("spec") or {}
    errors = []
    try:
        pem.check_signature(pem.read_request(_decoded(spec.get("request"))))
    except pem.PemError as exc:
        errors.append(field.invalid("spec.request", spec.get("request"), str(exc)))
    errors += _validate_usages(spec.get("usages") or (), before.get("usages") or ())
    signer = spec.get("signerName") or ""
    if signer == signers.LEGACY_UNKNOWN and before.get("signerName") != signer:
        why = "the legacy signerName is not allowed via this API version"
        errors.append(field.invalid("spec.signerName", signer, why))
    else:
        errors += signers.validate(signer, "spec.signerName")
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST_SECONDS:
        why = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(field.invalid("spec.expirationSeconds", seconds, why))
    errors += _validate_conditions(conditions_of(request), conditions_of(old or {}))
    return errors + _validate_certificate(request, old)


def _decoded(data: str | None) -> bytes:
    return base64.b64decode(data or "")


def _validate_usages(usages: Sequence[str], old: Sequence[str]) -> list[FieldError]:
    errors = [] if usages else [field.required("spec.usages")]
    path = "spec.usages[{}]".format
    if set(old) <= set(_USAGES):
        errors += [field.not_supported(path(i), one, _USAGES) for i, one in enumerate(usages) if one not in _USAGES]
    if len(set(old)) == len(old):
        errors += [field.duplicate(path(i), one) for i, one in enumerate(usages) if one in usages[:i]]
    return errors


def _validate_conditions(conditions: Sequence[Mapping[str, Any]], old: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    errors: list[FieldError] = []
    before = [one.get("type") or "" for one in old]
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        path, kind = f"{CONDITIONS}[{index}]", condition.get("type") or ""
        if not kind and "" not in before:
            errors.append(field.required(f"{path}.type"))
        errors += _validate_status(condition, path)
        is_pair = kind in {APPROVED, DENIED} and {APPROVED, DENIED} <= seen | {kind}
        if is_pair and not {APPROVED, DENIED} <= set(before):
            why = "Approved and Denied conditions are mutually exclusive"
            errors.append(field.invalid(CONDITIONS, kind, why))
        if kind in seen and len(set(before)) == len(before):
            errors.append(field.duplicate(f"{path}.type", kind))
        seen.add(kind)
    return errors


def _validate_status(condition: Mapping[str, Any], path: str) -> list[FieldError]:
    status = condition.get("status") or ""
    supported = ("True",) if condition.get("type") in {APPROVED, DENIED, FAILED} else _STATUSES
    if not status:
        return [field.required(f"{path}.status")]
    return [] if status in supported else [field.not_supported(f"{path}.status", status, supported)]


def _validate_certificate(request: Object, old: Object | None) -> list[FieldError]:
    data, before = (objects.get(one or {}, _CERTIFICATE) or "" for one in (request, old))
    if (old is not None and data == before) or _check(before) or not data:
        return []
    why = _check(data)
    return [field.invalid(_CERTIFICATE, "<certificate data>", why)] if why else []


def _check(data: str) -> str:
    """The message for invalid certificates; empty for valid ones and for none."""
    try:
        if data:
            pem.check_certificates(_decoded(data))
    except pem.PemError as exc:
        return str(exc)
    return ""


def validate_change(
    strategy: Strategy,
    context: StrategyContext,
    new: Object,
    old: Object,
    *,
    may_approve: bool = False,
    may_sign: bool = False,
) -> list[FieldError]:
    errors = strategy.validate_metadata_again(new) + Strategy.validate(strategy, context, new) + validate(new, old)
    forbid: Callable[[str, str], None] = lambda path, why: errors.append(field.forbidden(path, why))  # noqa: E731
    counts = {kind: [len(conditions_of(one, kind)) for one in (new, old)] for kind in (APPROVED, DENIED, FAILED)}
    for kind, (has, had) in counts.items():
        if has < had:
            forbid(CONDITIONS, f"updates may not remove a condition of type {quote(kind)}")
    for kind in () if may_approve else (APPROVED, DENIED):
        if counts[kind][0] > counts[kind][1]:
            forbid(CONDITIONS, f"updates may not add a condition of type {quote(kind)}")
    data, before = (objects.get(one, _CERTIFICATE) or "" for one in (new, old))
    if data != before and not may_sign:
        forbid(_CERTIFICATE, "updates may not set certificate content")
    elif data != before and before:
        forbid(_CERTIFICATE, "updates may not modify existing certificate content")
    return errors + Strategy.validate_update(strategy, context, new, old)

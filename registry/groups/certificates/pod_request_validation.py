"""pod_request_validation: validates PodCertificateRequests: the pod, its account and node, and the stub of a request.

It loads the cryptography library, so that its users defer it. Pure.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from cryptography import x509

from aio_apiserver.registry.base.validation import field, meta_conditions
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_SUBDOMAIN
from aio_apiserver.registry.groups.certificates import signers

Part = Mapping[str, Any]

_ENDS = ("Issued", "Denied", "Failed")
_LEAST, _MOST, _MOST_OF_KUBERNETES = 3600, 91 * 86400, 86400
_LONGEST_UID = 128
_ONE = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
_STUB = "spec.stubPKCS10Request"
_NAMED = (("podName", "podUID"), ("serviceAccountName", "serviceAccountUID"), ("nodeName", "nodeUID"))
_CONDITIONS = "status.conditions"


def validate(spec: Part) -> list[FieldError]:
    """The errors of a new request."""
    errors = signers.validate(spec.get("signerName") or "", "spec.signerName")
    for name, uid in _NAMED:
        given, known = spec.get(name) or "", spec.get(uid) or ""
        errors += field.invalid_each(f"spec.{name}", given, DNS1123_SUBDOMAIN.check(given))
        if not known:
            errors.append(field.invalid(f"spec.{uid}", "", "must not be empty"))
        if len(known) > _LONGEST_UID:
            errors.append(field.too_long(f"spec.{uid}", _LONGEST_UID))
    seconds = spec.get("maxExpirationSeconds")
    if seconds is None:
        return [*errors, field.required("spec.maxExpirationSeconds", "must be set")]
    return errors + _validate_expiration(seconds, spec) + _validate_key(spec)


def validate_status(new: Part, old: Part) -> list[FieldError]:
    """The errors of a changed status."""
    conditions = new.get("conditions") or ()
    errors = _validate_ends(conditions) + meta_conditions.validate(conditions, _CONDITIONS)
    if errors:
        return errors
    if _end_of(old) and new != old:
        return [field.invalid("status", new, "immutable after PodCertificateRequest is issued, denied, or failed")]
    if _end_of(new) in ("Denied", "Failed") and any(name != "conditions" for name in new):
        why = "non-condition status fields must be empty when denying or failing the PodCertificateRequest"
        return [field.invalid("status", new, why)]
    return []


def _validate_ends(conditions: Any) -> list[FieldError]:
    errors, known = [], 0
    for index, condition in enumerate(conditions):
        path, kind = f"{_CONDITIONS}[{index}]", condition.get("type") or ""
        if kind not in _ENDS:
            errors.append(field.not_supported(f"{path}.type", kind, _ENDS))
            continue
        known += 1
        if known > 1:
            why = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
            errors.append(field.invalid(f"{path}.type", kind, why))
        if condition.get("status") != "True":
            errors.append(field.not_supported(f"{path}.status", condition.get("status") or "", ("True",)))
    return errors


def _end_of(status: Part) -> str:
    found = (one["type"] for one in status.get("conditions") or () if one.get("type") in _ENDS)
    return next(found, "")


def _validate_expiration(seconds: int, spec: Part) -> list[FieldError]:
    domain = (spec.get("signerName") or "").partition("/")[0]
    is_own = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
    most = _MOST_OF_KUBERNETES if is_own else _MOST
    why = f"must be in the range [{_LEAST}, {most}]"
    return [] if _LEAST <= seconds <= most else [field.invalid("spec.maxExpirationSeconds", seconds, why)]


def _validate_key(spec: Part) -> list[FieldError]:
    stub, key, proof = (spec.get(name) for name in ("stubPKCS10Request", "pkixPublicKey", "proofOfPossession"))
    if bool(stub) == bool(key or proof) or bool(key) != bool(proof):
        return [field.FieldError(field.ErrorType.INVALID, "spec", detail=_ONE)]
    return _validate_stub(stub) if stub else []


def _validate_stub(stub: str) -> list[FieldError]:
    try:
        request = x509.load_der_x509_csr(b64decode(stub))
    except ValueError:
        return [field.FieldError(field.ErrorType.INVALID, _STUB, detail="must be a valid PKCS#10 CSR")]
    if request.is_signature_valid:
        return []
    return [field.FieldError(field.ErrorType.INVALID, _STUB, detail="invalid signature")]

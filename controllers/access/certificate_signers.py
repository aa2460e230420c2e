"""Certificate signers: which of them a signer accepts, which are approved at once, and when they are cleaned up.

Pure. The signers are the four of kube-controller-manager, with its rules and messages.
"""

import base64
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime
from typing import TypeAlias

from cryptography import x509
from cryptography.x509.oid import NameOID

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import seconds
from aio_apiserver.registry.base.golang import pem
from aio_apiserver.registry.groups.certificates import signers

KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
SUBRESOURCES = (
    ("selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."),
    ("nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."),
)
"""The permissions with which the client certificate of a kubelet is approved, and the messages of the approval."""
_HOUR = 3600.0
_DECIDED_SECONDS, _OPEN_SECONDS = _HOUR, 24 * _HOUR
_LONGEST_SECONDS, _SHORTEST_SECONDS = 365 * 24 * _HOUR, 600.0
_NODE = "system:node:"
_NAMES: tuple[tuple[type[x509.GeneralName], str], ...] = (
    (x509.DNSName, "DNS"),
    (x509.RFC822Name, "Email"),
    (x509.IPAddress, "IP"),
    (x509.UniformResourceIdentifier, "URI"),
)
Request: TypeAlias = x509.CertificateSigningRequest
Rule: TypeAlias = Callable[[Request, Set[str]], str]


def condition_of(request: Object, kind: str) -> Mapping[str, str] | None:
    """A condition of a request that is true."""
    every = (request.get("status") or {}).get("conditions") or ()
    return next((one for one in every if one["type"] == kind and one.get("status", "True") == "True"), None)


def is_issued(request: Object) -> bool:
    return bool((request.get("status") or {}).get("certificate"))


def wants_certificate(request: Object) -> bool:
    """Whether a request is approved for one of the signers, and still without a certificate."""
    is_open = condition_of(request, "Approved") is not None and condition_of(request, "Failed") is None
    return is_open and not is_issued(request) and request["spec"].get("signerName") in _RULES


def wants_approval(request: Object) -> bool:
    """Whether a request is for the client certificate of a kubelet, and it has no decision yet."""
    if is_issued(request) or request["spec"].get("signerName") != KUBELET_CLIENT:
        return False
    return condition_of(request, "Approved") is None and condition_of(request, "Denied") is None


def _read(request: Object) -> Request:
    return pem.read_request(base64.b64decode(request["spec"]["request"]))


def refusal(request: Object) -> str:
    """The reason why the signer refuses a request; empty when it signs."""
    return _RULES[request["spec"]["signerName"]](_read(request), set(request["spec"].get("usages") or ()))


def permissions(request: Object) -> Sequence[tuple[str, str]]:
    """The permissions, one of which approves a request, each with its message."""
    read = _read(request)
    if _kubelet_client(read, set(request["spec"].get("usages") or ())):
        return ()
    is_own = request["spec"].get("username") == _common_name(read)
    return SUBRESOURCES if is_own else SUBRESOURCES[1:]


def lifetime(request: Object) -> float:
    """The seconds for which a certificate is issued."""
    wanted = request["spec"].get("expirationSeconds")
    return _LONGEST_SECONDS if wanted is None else min(_LONGEST_SECONDS, max(_SHORTEST_SECONDS, float(wanted)))


def _common_name(request: Request) -> str:
    names = request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[-1].value) if names else ""


def _alternatives(request: Request) -> x509.SubjectAlternativeName | None:
    try:
        return request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return None


def _has(request: Request, kind: type[x509.GeneralName]) -> bool:
    return any(isinstance(one, kind) for one in _alternatives(request) or ())


def _node(request: Request) -> str:
    organizations = [one.value for one in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    return "" if organizations == ["system:nodes"] else "subject organization is not system:nodes"


def _refused_names(request: Request, *allowed: type[x509.GeneralName]) -> str:
    for kind, word in _NAMES:
        if kind not in allowed and _has(request, kind):
            return f"{word} subjectAltNames are not allowed"
    return ""


def _usages(usages: Set[str], purpose: str) -> str:
    required = {"digital signature", "key encipherment", purpose}
    if usages in (required, required - {"key encipherment"}):
        return ""
    return f"usages did not match [{' '.join(sorted(required))}]"


def _node_name(request: Request) -> str:
    return "" if _common_name(request).startswith(_NODE) else f"subject common name does not begin with {_NODE}"


def _kubelet_client(request: Request, usages: Set[str]) -> str:
    checks = (_node(request), _refused_names(request), _node_name(request), _usages(usages, "client auth"))
    return next(filter(None, checks), "")


def _kubelet_serving(request: Request, usages: Set[str]) -> str:
    has_name = _has(request, x509.DNSName) or _has(request, x509.IPAddress)
    checks = (
        _node(request),
        "" if has_name else "DNS or IP subjectAltName is required",
        _refused_names(request, x509.DNSName, x509.IPAddress),
        _usages(usages, "server auth"),
        _node_name(request),
    )
    return next(filter(None, checks), "")


def _client(_request: Request, usages: Set[str]) -> str:
    strange = sorted(usages - {"digital signature", "key encipherment", "client auth"})
    if strange:
        return f"invalid usage for client certificate: {strange[0]}"
    return "" if "client auth" in usages else "missing required usage for client certificate: client auth"


_RULES: Mapping[str, Rule] = {
    KUBELET_SERVING: _kubelet_serving,
    KUBELET_CLIENT: _kubelet_client,
    signers.API_SERVER_CLIENT: _client,
    signers.LEGACY_UNKNOWN: lambda _request, _usages: "",
}


def decide(request: Object, kind: str, reason: str, message: str, *, now: str) -> bool:
    """Add a condition to a request. Returns whether that is new."""
    status = request.setdefault("status", {})
    if any(one["type"] == kind for one in status.get("conditions") or ()):
        return False
    added = {"type": kind, "status": "True", "reason": reason, "message": message}
    times = {"lastUpdateTime": now, "lastTransitionTime": now}
    status["conditions"] = [*(status.get("conditions") or ()), {**added, **times}]
    return True


def end_of(request: Object) -> float:
    """The time at which a request is cleaned up, in seconds since the epoch."""
    ends = [seconds(request["metadata"]["creationTimestamp"]) + _OPEN_SECONDS]
    for kind in ("Approved", "Denied", "Failed"):
        condition = condition_of(request, kind)
        if condition is not None:
            is_open = kind == "Approved" and not is_issued(request)
            since = condition.get("lastUpdateTime") or condition.get("lastTransitionTime") or ""
            ends.append((seconds(since) if since else ends[0]) + (_OPEN_SECONDS if is_open else _DECIDED_SECONDS))
    decided = ends[1:]
    if is_issued(request):
        decided.append(_expiry(request).timestamp())
    return min(decided, default=ends[0])


def _expiry(request: Object) -> datetime:
    certificate = base64.b64decode(request["status"]["certificate"])
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc

"""service_account_claims: the JWT claims of service account tokens: the account, and the object of a bound token.

Pure; the tokens are made by token_issuer.py. Must hold: `bound_of` reads the claims that `claims_of` writes.
"""

import math
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.generic.access.users import UserInfo, service_account_groups, service_account_name

CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
_EXTRA = "authentication.kubernetes.io/"
_OWN = "kubernetes.io"

Claims = Mapping[str, Any]


class Reference(Struct, frozen=True):
    """An object by name and uid; the uid of a node may be unknown."""

    name: str
    uid: str = ""


class Bound(Struct, frozen=True, kw_only=True):
    """The account of a token, and the object to which it is bound. A node beside a pod is not checked."""

    namespace: str
    account: Reference
    pod: Reference | None = None
    secret: Reference | None = None
    node: Reference | None = None


def claims_of(
    bound: Bound, *, issuer: str, audiences: Sequence[str], now: int, seconds: int, warn_after: int = 0
) -> dict[str, Any]:
    """The claims of a new token that is valid for `seconds`."""
    own: dict[str, Any] = {"namespace": bound.namespace}
    for name in ("node", "pod", "secret"):
        reference = getattr(bound, name)
        if reference is not None:
            own[name] = _written(reference)
    own["serviceaccount"] = _written(bound.account)
    if warn_after:
        own["warnafter"] = now + warn_after
    return {
        "aud": list(audiences),
        "exp": now + seconds,
        "iat": now,
        "iss": issuer,
        "jti": str(uuid.uuid4()),
        _OWN: own,
        "nbf": now,
        "sub": service_account_name(bound.namespace, bound.account.name),
    }


def bound_of(claims: Claims) -> Bound:
    """The account and the bound object of a verified token."""
    own = claims.get(_OWN)
    own = own if isinstance(own, dict) else {}
    return Bound(
        namespace=_text(own, "namespace"),
        account=_read(own.get("serviceaccount")) or Reference(""),
        pod=_read(own.get("pod")),
        secret=_read(own.get("secret")),
        node=_read(own.get("node")),
    )


def warned_after(claims: Claims) -> float:
    """The time from which a client should use a newer token; infinity without that claim."""
    own = claims.get(_OWN)
    when = own.get("warnafter") if isinstance(own, dict) else None
    return when if isinstance(when, int | float) and when else math.inf


def user_of(bound: Bound, claims: Claims) -> UserInfo:
    """The user of a token."""
    extra: dict[str, Sequence[str]] = {}
    if isinstance(identifier := claims.get("jti"), str) and identifier:
        extra[CREDENTIAL_ID] = (f"JTI={identifier}",)
    if bound.node is not None and bound.node.name:
        extra[f"{_EXTRA}node-name"] = (bound.node.name,)
        if bound.node.uid:
            extra[f"{_EXTRA}node-uid"] = (bound.node.uid,)
    if bound.pod is not None and bound.pod.name and bound.pod.uid:
        extra[f"{_EXTRA}pod-name"] = (bound.pod.name,)
        extra[f"{_EXTRA}pod-uid"] = (bound.pod.uid,)
    return UserInfo(
        name=service_account_name(bound.namespace, bound.account.name),
        uid=bound.account.uid,
        groups=service_account_groups(bound.namespace),
        extra=extra,
    )


def _written(reference: Reference) -> dict[str, str]:
    return {"name": reference.name, **({"uid": reference.uid} if reference.uid else {})}


def _read(value: Any) -> Reference | None:
    return Reference(_text(value, "name"), _text(value, "uid")) if isinstance(value, dict) else None


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""

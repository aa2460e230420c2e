"""Service account tokens: signed by a key of this server, and valid while the objects that they are bound to exist.

Must hold: a token of another issuer is left to other authenticators. A signature is verified once, the claims at every
use.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.kept_items import KeptByKey
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.golang.text import quoted
from aio_apiserver.registry.generic.access.authentication import Authenticated, BadToken
from aio_apiserver.registry.generic.access.service_account_claims import (
    Bound,
    Claims,
    Reference,
    bound_of,
    user_of,
    warned_after,
)
from aio_apiserver.registry.generic.access.signing_keys import SigningKeys
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.bound_objects import BoundObject, BoundObjects
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.plugins.authentication import jwts

_MOST_REMEMBERED = 4096
_MOST_BYTES = 32 * 1024 * 1024
_OF_TOKEN = 5
"""The memory of a token and its claims, as a multiple of the token."""
_LEGACY = "authentication.k8s.io/legacy-token"
STALE = "authentication.k8s.io/stale-token"
"""The audit annotation for tokens past their warning time."""
_INVALIDATED = "service account token has been invalidated"


class SignedTokens:
    """Verifies tokens of these issuers with the server's keys, and caches their claims."""

    def __init__(self, keys: SigningKeys, issuers: Sequence[str]) -> None:
        self._keys = keys
        self._issuers = frozenset(issuers)
        self._verified: KeptByKey[str, Claims] = KeptByKey(_MOST_BYTES, _MOST_REMEMBERED)
        self._loads = keys.loads

    async def claims(self, token: str) -> Claims | None:
        """The claims of a token; None when it has another issuer. Raises BadToken."""
        if self._loads != self._keys.loads:  # a token of a key that was dropped is not good any more
            self._verified.clear()
            self._loads = self._keys.loads
        claims = self._verified.get(token)
        if claims is not None:
            return claims
        payload, header = jwts.unverified(token, 1), jwts.unverified(token, 0)
        if payload is None or header is None or not self._is_ours(payload):
            return None
        claims = await self._verify(token, header.get("kid"))
        if not self._is_ours(claims):
            raise BadToken(f"token issuer {quote(str(claims.get('iss', '')))} is invalid")
        self._verified.put(token, claims, _OF_TOKEN * len(token))
        return claims

    def _is_ours(self, claims: Claims) -> bool:
        issuer = claims.get("iss")
        return isinstance(issuer, str) and issuer in self._issuers

    async def _verify(self, token: str, key_id: Any) -> Mapping[str, Any]:
        keys = await self._keys.get()
        named = keys.by_id.get(str(key_id)) if key_id else None
        candidates = [named] if named else [] if key_id else keys.verifying
        if not candidates:
            raise BadToken("invalid signature, no keys found")
        return jwts.verified(token, [key.key for key in candidates], [key.algorithm for key in candidates])


class ServiceAccountTokens:
    """Authenticates tokens of the TokenRequest API."""

    def __init__(self, signed: SignedTokens, own_audiences: Sequence[str], bound: BoundObjects, clock: Clock) -> None:
        self._signed = signed
        self._own_audiences = own_audiences
        self._bound_objects = bound
        self._clock = clock

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        claims = await self._signed.claims(token)
        if claims is None:
            return None
        held = jwts.audiences_of(claims) or self._own_audiences
        common = jwts.common(held, audiences)
        if not common:
            detail = f"token audiences {quoted(held)} is invalid for the target audiences {quoted(audiences)}"
            raise BadToken(detail)
        return Authenticated(await self._user(claims), common, annotations=self._annotations(claims))

    def _annotations(self, claims: Claims) -> Mapping[str, str]:
        """Audit annotations: the token has no audience, or it is past its warning time."""
        subject = str(claims.get("sub", ""))
        annotations = {} if jwts.audiences_of(claims) else {_LEGACY: subject}
        late = int(self._clock.now()) - warned_after(claims)
        if late > 0:
            annotations[STALE] = f"subject: {subject}, seconds after warning threshold: {int(late)}"
        return annotations

    async def _user(self, claims: Claims) -> UserInfo:
        now = self._clock.now()
        _check_times(claims, now)
        bound = bound_of(claims)
        await self._check_account(bound, now)
        for kind, reference in ((SECRETS, bound.secret), (PODS, bound.pod)):
            if reference is not None:
                await self._check_bound(kind, bound.namespace, reference, now)
        if bound.node is not None and bound.pod is None:
            await self._check_bound(NODES, "", bound.node, now)
        return user_of(bound, claims)

    async def _check_account(self, bound: Bound, now: float) -> None:
        account, namespace = bound.account, bound.namespace
        try:
            found = await self._bound_objects.find(SERVICEACCOUNTS, namespace, account.name, uid=account.uid)
        except errors.StatusError as exc:
            raise BadToken(exc.message) from exc
        if found.uid != account.uid:
            raise BadToken(f"service account UID ({found.uid}) does not match claim ({account.uid})")
        if _is_over(found, now):
            raise BadToken(f"service account {namespace}/{account.name} has been deleted")

    async def _check_bound(self, kind: Kind, namespace: str, reference: Reference, now: float) -> None:
        try:
            found = await self._bound_objects.find(kind, namespace, reference.name, uid=reference.uid)
        except errors.StatusError as exc:
            raise BadToken(_INVALIDATED) from exc
        if found.uid != reference.uid:
            name = kind.singular
            raise BadToken(
                f"{name} UID ({found.uid}) does not match service account {name} ref claim ({reference.uid})"
            )
        if _is_over(found, now):
            raise BadToken(_INVALIDATED)


def _check_times(claims: Claims, now: float) -> None:
    ends, begins, issued = (jwts.seconds_of(claims, name) for name in ("exp", "nbf", "iat"))
    if begins is not None and now + jwts.LEEWAY_SECONDS < begins:
        raise BadToken("service account token is not valid yet")
    if ends is not None and now - jwts.LEEWAY_SECONDS > ends:
        raise BadToken("service account token has expired")
    if issued is not None and now + jwts.LEEWAY_SECONDS < issued:
        raise BadToken("service account token is issued in the future")


def _is_over(bound: BoundObject, now: float) -> bool:
    """Whether an object was deleted longer ago than clocks may differ."""
    return bound.ends is not None and bound.ends < now - jwts.LEEWAY_SECONDS

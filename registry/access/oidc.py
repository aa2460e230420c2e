"""OIDC tokens: signed by an issuer elsewhere, whose keys are fetched from it and kept.

Knows no HTTP: `Fetch` brings documents. Must hold: keys are fetched once at a time, and for a key that nobody knows not
more often than every few seconds; a token is verified before anything that it claims counts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from registry.access import jwts
from registry.access.authentication import Authenticated, BadToken
from registry.access.users import UserInfo
from registry.quoting import quote
from storage.clock import Clock

Fetch = Callable[[str], Awaitable[bytes]]
"""The document at a URL. Raises OSError."""
Claims = Mapping[str, Any]

ALGORITHMS = ("RS256",)
"""What --oidc-signing-algs allows unless it is given."""
_PAUSE_SECONDS = 10.0
_CONFIGURATION = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class Mapped:
    """A claim and what is put before its value."""

    claim: str
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """One issuer, and how its claims become users.

    discovery_url: where the issuer's configuration is,
    if not below its own URL.
    """

    url: str
    audiences: Sequence[str]
    discovery_url: str = ""
    algorithms: Sequence[str] = ALGORITHMS
    username: Mapped = Mapped("sub")
    groups: Mapped | None = None
    uid_claim: str = ""
    required: Mapping[str, str] = field(default_factory=dict)


class IssuerKeys:
    """The keys of one issuer, as it shows them."""

    def __init__(self, issuer: Issuer, fetch: Fetch, clock: Clock) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._fetching = asyncio.Lock()
        self._keys: Mapping[str, Any] = {}
        self._fresh_until = float("-inf")

    async def find(self, key_id: str) -> list[Any]:
        """The keys that may have signed under an id; all when there is no id. Raises BadToken."""
        found = self._named(key_id)
        if found or self._clock.monotonic() < self._fresh_until:
            return found
        async with self._fetching:
            if self._clock.monotonic() >= self._fresh_until:
                try:
                    self._keys = await self._fetched()
                except (OSError, ValueError) as exc:
                    raise BadToken(f"oidc: authenticator not initialized: {exc}") from exc
                finally:
                    self._fresh_until = self._clock.monotonic() + _PAUSE_SECONDS
        return self._named(key_id)

    def _named(self, key_id: str) -> list[Any]:
        if not key_id:
            return list(self._keys.values())
        return [self._keys[key_id]] if key_id in self._keys else []

    async def _fetched(self) -> Mapping[str, Any]:
        import jwt

        where = self._issuer.discovery_url or f"{self._issuer.url.rstrip('/')}{_CONFIGURATION}"
        document = _object(await self._fetch(where))
        if document.get("issuer") != self._issuer.url:
            raise ValueError(f"issuer did not match: expected {quote(self._issuer.url)}")
        listed = _object(await self._fetch(str(document.get("jwks_uri", "")))).get("keys")
        keys: dict[str, Any] = {}
        for number, one in enumerate(listed if isinstance(listed, list) else ()):
            try:
                keys[str(one.get("kid") or number)] = jwt.PyJWK.from_dict(one).key
            except (jwt.PyJWTError, AttributeError):
                continue  # a key of a kind that nobody here verifies with
        return keys


def _object(data: bytes) -> Mapping[str, Any]:
    value = orjson.loads(data)
    if not isinstance(value, dict):
        raise ValueError("the issuer's document is no object")
    return value


class OIDCTokens:
    """Tokens of one issuer."""

    def __init__(self, issuer: Issuer, keys: IssuerKeys, own_audiences: Sequence[str], clock: Clock) -> None:
        self._issuer = issuer
        self._keys = keys
        self._own_audiences = own_audiences
        self._clock = clock

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        said, header = jwts.unverified(token, 1), jwts.unverified(token, 0)
        common = jwts.common(self._own_audiences, audiences)
        if said is None or header is None or said.get("iss") != self._issuer.url or not common:
            return None
        keys = await self._keys.find(str(header.get("kid") or ""))
        if not keys:
            raise BadToken("oidc: verify token: failed to verify signature: no key fits the token")
        claims = jwts.verified(token, keys, self._issuer.algorithms)
        self._check(claims)
        return Authenticated(user_of(claims, self._issuer), common)

    def _check(self, claims: Claims) -> None:
        """Raises BadToken for a token of another issuer, for others, or past its time."""
        now, issuer = self._clock.now(), self._issuer
        if claims.get("iss") != issuer.url:
            raise BadToken("oidc: verify token: the issuer is another")
        if not jwts.common(issuer.audiences, jwts.audiences_of(claims)):
            wanted, held = jwts.shown(issuer.audiences), jwts.shown(jwts.audiences_of(claims))
            raise BadToken(f"oidc: verify token: expected audience in {wanted} got {held}")
        ends, begins = jwts.seconds_of(claims, "exp"), jwts.seconds_of(claims, "nbf")
        if ends is None or ends < now:
            raise BadToken("oidc: verify token: token is expired")
        if begins is not None and begins > now + jwts.LEEWAY_SECONDS:
            raise BadToken("oidc: verify token: current time before the nbf (not before) time")


def user_of(claims: Claims, issuer: Issuer) -> UserInfo:
    """The user that verified claims mean. Raises BadToken when they mean none."""
    for name, wanted in issuer.required.items():
        if claims.get(name) != wanted:
            raise BadToken(f"oidc: required claim {name} value does not match")
    name = f"{issuer.username.prefix}{_user_name(claims, issuer.username.claim)}"
    uid = claims.get(issuer.uid_claim, "") if issuer.uid_claim else ""
    extra: dict[str, Sequence[str]] = {}
    if isinstance(identifier := claims.get("jti"), str) and identifier:
        extra["authentication.kubernetes.io/credential-id"] = (f"JTI={identifier}",)
    return UserInfo(name=name, uid=str(uid), groups=_groups(claims, issuer.groups), extra=extra)


def _user_name(claims: Claims, claim: str) -> str:
    name = claims.get(claim)
    if not isinstance(name, str) or not name:
        raise BadToken(f"oidc: parse username claims {quote(claim)}: claim not present")
    # Who owns an address has to be proved, wherever the issuer tells whether it was.
    if claim == "email" and claims.get("email_verified", True) is not True:
        raise BadToken("oidc: email not verified")
    return name


def _groups(claims: Claims, mapped: Mapped | None) -> tuple[str, ...]:
    if mapped is None or mapped.claim not in claims:
        return ()
    given = claims[mapped.claim]
    groups = [given] if isinstance(given, str) else given
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise BadToken(f"oidc: parse groups claim {quote(mapped.claim)}: it holds no list of texts")
    return tuple(f"{mapped.prefix}{group}" for group in groups)

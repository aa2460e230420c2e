"""OIDC tokens: signed by an external issuer, whose keys are fetched and cached.

It does not know HTTP: `Fetch` gets documents. Must hold: one fetch of keys runs at a time. An unknown key ID starts one
every 10 seconds at most. A token is verified before its claims are used.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import orjson
from msgspec import Struct, field

from aio_apiserver.base import worker_thread
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.golang.text import quoted
from aio_apiserver.registry.generic.access.authentication import Authenticated, BadToken
from aio_apiserver.registry.generic.access.service_account_claims import CREDENTIAL_ID
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.plugins.authentication import jwts

Fetch = Callable[[str], Awaitable[bytes]]
"""Returns the document at a URL. Raises OSError."""
Claims = Mapping[str, Any]

ALGORITHMS = ("RS256",)
"""The default of --oidc-signing-algs."""
_PAUSE_SECONDS = 10.0
_MOST_KEYS = 1_000
_LONGEST_KEY = 16 * 1024
"""An RSA key of 16,384 bits, the longest that OpenSSL verifies with, takes 3 KB; its certificates may be there too."""
_CONFIGURATION = "/.well-known/openid-configuration"


class Issuer(Struct, frozen=True, kw_only=True):
    """An issuer, with the functions that make a user from its claims. Each may raise BadToken.

    discovery_url: the URL of the discovery document, unless it is below the issuer's URL. checks, user_checks: raise
    BadToken for claims and users that are not accepted.
    """

    url: str
    audiences: Sequence[str]
    discovery_url: str = ""
    algorithms: Sequence[str] = ALGORITHMS
    username: Callable[[Claims], str]
    groups: Callable[[Claims], Sequence[str]] = lambda _claims: ()
    uid: Callable[[Claims], str] = lambda _claims: ""
    extra: Mapping[str, Callable[[Claims], Sequence[str]]] = field(default_factory=dict)
    checks: Sequence[Callable[[Claims], None]] = ()
    user_checks: Sequence[Callable[[UserInfo], None]] = ()


class IssuerKeys:
    """The cached keys of one issuer."""

    def __init__(self, issuer: Issuer, fetch: Fetch, clock: Clock) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._fetching = asyncio.Lock()
        self._keys: Mapping[str, Any] = {}
        self._fresh_until = float("-inf")

    async def find(self, key_id: str) -> list[Any]:
        """The keys for a key ID; all keys when it is empty. Raises BadToken."""
        found = self._named(key_id)
        if found or self._clock.monotonic() < self._fresh_until:
            return found
        async with self._fetching:
            if self._clock.monotonic() >= self._fresh_until:
                try:
                    await self.fetch()
                except OSError as exc:
                    raise BadToken(f"oidc: authenticator not initialized: {exc}") from exc
        return self._named(key_id)

    async def fetch(self) -> None:
        """Fetch the keys now. Raises OSError when the documents cannot be fetched or read."""
        try:
            self._keys = await self._fetched()
        except ValueError as exc:
            raise OSError(str(exc)) from exc
        finally:
            self._fresh_until = self._clock.monotonic() + _PAUSE_SECONDS

    def _named(self, key_id: str) -> list[Any]:
        if not key_id:
            return list(self._keys.values())
        return [self._keys[key_id]] if key_id in self._keys else []

    async def _fetched(self) -> Mapping[str, Any]:
        where = self._issuer.discovery_url or f"{self._issuer.url.rstrip('/')}{_CONFIGURATION}"
        document = _object(await self._fetch(where))
        if document.get("issuer") != self._issuer.url:
            raise ValueError(f"issuer did not match: expected {quote(self._issuer.url)}")
        listed = _object(await self._fetch(str(document.get("jwks_uri", "")))).get("keys")
        if not isinstance(listed, list):
            return {}
        if len(listed) > _MOST_KEYS:
            raise ValueError(f"the issuer has more than {_MOST_KEYS} keys")
        return await worker_thread.run(partial(_keys_of, listed), self._issuer.url)


def _keys_of(listed: Sequence[Any]) -> Mapping[str, Any]:
    """The keys of a key set, by their IDs."""
    import jwt

    keys: dict[str, Any] = {}
    for number, key in enumerate(listed):
        try:
            if len(orjson.dumps(key)) <= _LONGEST_KEY:
                keys[str(key.get("kid") or number)] = jwt.PyJWK.from_dict(key).key
        except (jwt.PyJWTError, AttributeError):
            continue  # no supported key type
    return keys


def _object(data: bytes) -> Mapping[str, Any]:
    value = orjson.loads(data)
    if not isinstance(value, dict):
        raise ValueError("the issuer's document is no object")
    return value


class OIDCTokens:
    """Authenticates the tokens of one issuer."""

    def __init__(self, issuer: Issuer, keys: IssuerKeys, own_audiences: Sequence[str], clock: Clock) -> None:
        self._issuer = issuer
        self._keys = keys
        self._own_audiences = own_audiences
        self._clock = clock

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        payload, header = jwts.unverified(token, 1), jwts.unverified(token, 0)
        common = jwts.common(self._own_audiences, audiences)
        if payload is None or header is None or payload.get("iss") != self._issuer.url or not common:
            return None
        keys = await self._keys.find(str(header.get("kid") or ""))
        if not keys:
            raise BadToken("oidc: verify token: failed to verify signature: no key fits the token")
        claims = jwts.verified(token, keys, self._issuer.algorithms)
        self._check(claims)
        return Authenticated(user_of(claims, self._issuer), common)

    def _check(self, claims: Claims) -> None:
        """Check issuer, audience and times. Raises BadToken."""
        now, issuer = self._clock.now(), self._issuer
        if claims.get("iss") != issuer.url:
            raise BadToken("oidc: verify token: the issuer is another")
        if not jwts.common(issuer.audiences, jwts.audiences_of(claims)):
            wanted, held = quoted(issuer.audiences), quoted(jwts.audiences_of(claims))
            raise BadToken(f"oidc: verify token: expected audience in {wanted} got {held}")
        ends, begins = jwts.seconds_of(claims, "exp"), jwts.seconds_of(claims, "nbf")
        if ends is None or ends < now:
            raise BadToken("oidc: verify token: token is expired")
        if begins is not None and begins > now + jwts.LEEWAY_SECONDS:
            raise BadToken("oidc: verify token: current time before the nbf (not before) time")


def user_of(claims: Claims, issuer: Issuer) -> UserInfo:
    """The user of verified claims. Raises BadToken when they give no user name."""
    for check in issuer.checks:
        check(claims)
    name = issuer.username(claims)
    if not name:
        raise BadToken("oidc: username claim is empty")
    extra = {key: values for key, read in issuer.extra.items() if (values := tuple(read(claims)))}
    if isinstance(identifier := claims.get("jti"), str) and identifier:
        extra[CREDENTIAL_ID] = (f"JTI={identifier}",)
    user = UserInfo(name=name, uid=issuer.uid(claims), groups=tuple(issuer.groups(claims)), extra=extra)
    for accept in issuer.user_checks:
        accept(user)
    return user


def name_from(claim: str, prefix: str) -> Callable[[Claims], str]:
    """A user name from a claim. An email address is refused when the issuer says that it is not verified."""

    def read(claims: Claims) -> str:
        name = claims.get(claim)
        if not isinstance(name, str) or not name:
            raise BadToken(f"oidc: parse username claims {quote(claim)}: claim not present")
        if claim == "email" and claims.get("email_verified", True) is not True:
            raise BadToken("oidc: email not verified")
        return f"{prefix}{name}"

    return read


def groups_from(claim: str, prefix: str) -> Callable[[Claims], Sequence[str]]:
    """Groups from a claim that holds one group or a list."""

    def read(claims: Claims) -> Sequence[str]:
        given = claims.get(claim, [])
        groups = [given] if isinstance(given, str) else given
        if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
            raise BadToken(f"oidc: parse groups claim {quote(claim)}: it holds no list of texts")
        return [f"{prefix}{group}" for group in groups]

    return read


def uid_from(claim: str) -> Callable[[Claims], str]:
    """A uid from a claim."""

    def read(claims: Claims) -> str:
        uid = claims.get(claim, "")
        if not isinstance(uid, str):
            raise BadToken(f"oidc: parse uid claim {quote(claim)}: it holds no text")
        return uid

    return read


def requiring(claim: str, value: str) -> Callable[[Claims], None]:
    """A check that a claim has this value."""

    def check(claims: Claims) -> None:
        if claims.get(claim) != value:
            raise BadToken(f"oidc: required claim {claim} value does not match")

    return check

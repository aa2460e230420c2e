"""TokenIssuer: makes service account tokens, with the lifetime and audiences of the flags."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct, field

from aio_apiserver.registry.generic.access import signing_keys
from aio_apiserver.registry.generic.access.service_account_claims import Bound, claims_of
from aio_apiserver.registry.generic.access.signing_keys import SigningKeys

ISSUER = "https://kubernetes.default.svc"
WARN_ONLY_SECONDS = 3607
"""The lifetime of the tokens that pods request. When it is extended, later use of the token causes a warning only."""
_EXTENDED_SECONDS = 365 * 24 * 3600


class Issued(NamedTuple):
    """A token, and the identifier of its credential, which is no secret."""

    token: str
    identifier: str


class TokenIssuer(Struct, frozen=True, kw_only=True):
    """issuers: the first makes tokens, those of all are accepted. max_seconds: 0 is no limit.

    extends: whether tokens of pods are valid for a year, for programs that do not read renewed tokens.
    """

    keys: SigningKeys = field(default_factory=lambda: SigningKeys(signing_keys.make))
    issuers: Sequence[str] = (ISSUER,)
    own_audiences: Sequence[str] = (ISSUER,)
    max_seconds: int = 0
    extends: bool = True

    async def issue(self, bound: Bound, *, audiences: Sequence[str], now: int, seconds: int) -> Issued:
        """A signed token. Raises OSError or ValueError when the keys cannot be used."""
        warn_after = 0
        is_own = all(audience in self.own_audiences for audience in audiences)
        if self.extends and bound.pod is not None and seconds == WARN_ONLY_SECONDS and is_own:
            warn_after = seconds
            seconds = min(_EXTENDED_SECONDS, self.max_seconds) if self.max_seconds else _EXTENDED_SECONDS
        claims = claims_of(
            bound, issuer=self.issuers[0], audiences=audiences, now=now, seconds=seconds, warn_after=warn_after
        )
        return Issued((await self.keys.get()).sign(claims), claims["jti"])

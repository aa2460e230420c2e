"""Authentication by bearer token: the contract of token authenticators, and their union.

Knows no HTTP. Must hold: a token is never shown in a message. An authenticator returns None for a token that it does
not know, and the next one is tried. It raises BadToken for a token that it knows and refuses.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, UserInfo, authenticated

INVALID = "invalid bearer token"


class Authenticated(Struct, frozen=True):
    """The user of a token, its accepted audiences, and warnings for the client.

    annotations: for the audit event of a request with this token.
    """

    user: UserInfo
    audiences: Sequence[str] = ()
    warnings: Sequence[str] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)


class BadToken(Exception):
    """A token that may not be used: the message says why."""


class TokenAuthenticator(Protocol):
    """Authenticates one sort of tokens."""

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        """The user of a token for at least one of the audiences; None for an unknown token. Raises BadToken."""
        ...


class KnownTokens:
    """Tokens from a file, or made by the server itself: valid for the server's own audiences."""

    def __init__(self, users: Mapping[str, UserInfo], own_audiences: Sequence[str]) -> None:
        self._own_audiences = tuple(own_audiences)
        self._known: Mapping[str, Authenticated] = {}
        self.replace(users)

    def replace(self, users: Mapping[str, UserInfo]) -> None:
        """Accept other tokens from now on."""
        self._known = {token: Authenticated(authenticated(user), self._own_audiences) for token, user in users.items()}

    def of(self, token: str) -> Authenticated | None:
        """The user of a token for the server's own audiences; None for an unknown token."""
        return self._known.get(token) if token else None

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        known = self._known.get(token)
        if known is None or audiences == self._own_audiences:
            return known
        common = [audience for audience in self._own_audiences if audience in audiences]
        return replace(known, audiences=common) if common else None


class Replaceable:
    """Authenticators of one sort, which can be replaced while the server runs. BadToken from one of them is final."""

    def __init__(self, authenticators: Sequence[TokenAuthenticator]) -> None:
        self._authenticators = tuple(authenticators)

    def replace(self, authenticators: Sequence[TokenAuthenticator]) -> None:
        """Use other authenticators from now on."""
        self._authenticators = tuple(authenticators)

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        for authenticator in self._authenticators:
            if (found := await authenticator.authenticate(token, audiences)) is not None:
                return found
        return None


class Tokens:
    """The union of all authenticators, in order. An authenticated user is a member of system:authenticated."""

    def __init__(
        self,
        known: KnownTokens,
        others: Sequence[TokenAuthenticator],
        own_audiences: Sequence[str],
        *,
        allows_anonymous: bool = True,
    ) -> None:
        self.known = known
        """The first authenticator, which never waits."""
        self._authenticators = (known, *others)
        self.own_audiences = tuple(own_audiences)
        self.allows_anonymous = allows_anonymous
        """Whether a request without a token is from the anonymous user, on any path."""

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated:
        """The user of a token. Raises BadToken with the errors of all authenticators."""
        wrong: list[str] = [INVALID]
        for authenticator in self._authenticators:
            try:
                found = await authenticator.authenticate(token, audiences)
            except BadToken as exc:
                wrong.append(str(exc))
                continue
            if found is not None:
                if ALL_AUTHENTICATED in found.user.groups:
                    return found
                return replace(found, user=authenticated(found.user))
        raise BadToken(f"[{', '.join(wrong)}]" if len(wrong) > 1 else INVALID)

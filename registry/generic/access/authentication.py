"""Authentication by token: the contract of all that know tokens, and the union of them.

Knows no HTTP. Must hold: a token is never shown in a message; an authenticator that does not know a token says so
with None and leaves it to the next, one that knows it and finds it bad raises BadToken.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.registry.generic.access.users import UserInfo, authenticated

INVALID = "invalid bearer token"


class Authenticated(Struct, frozen=True):
    """Whose token it is, for which of the audiences that were asked for, and what its user should hear.

    annotations: what the audit's record of a request with this token says of it.
    """

    user: UserInfo
    audiences: Sequence[str] = ()
    warnings: Sequence[str] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)


class BadToken(Exception):
    """A token that may not be used: the message says why."""


class TokenAuthenticator(Protocol):
    """Knows some tokens."""

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        """The owner of a token for at least one of the audiences. Raises BadToken."""
        ...


class KnownTokens:
    """Tokens that stand in a file or were made by the server itself: good for the server's own audiences."""

    def __init__(self, users: Mapping[str, UserInfo], own_audiences: Sequence[str]) -> None:
        self._own_audiences = tuple(own_audiences)
        self._known = {token: Authenticated(authenticated(user), self._own_audiences) for token, user in users.items()}

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        known = self._known.get(token)
        if known is None or audiences == self._own_audiences:
            return known
        common = [audience for audience in self._own_audiences if audience in audiences]
        return replace(known, audiences=common) if common else None


class Replaceable:
    """Authenticators of the same sort, in whose place others may come; what one of them finds bad is bad."""

    def __init__(self, authenticators: Sequence[TokenAuthenticator]) -> None:
        self._authenticators = tuple(authenticators)

    def replace(self, authenticators: Sequence[TokenAuthenticator]) -> None:
        """Ask others from now on."""
        self._authenticators = tuple(authenticators)

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        for authenticator in self._authenticators:
            if (found := await authenticator.authenticate(token, audiences)) is not None:
                return found
        return None


class Tokens:
    """All that know tokens, asked in order; whoever proves who they are is a member of system:authenticated."""

    def __init__(
        self,
        authenticators: Sequence[TokenAuthenticator],
        own_audiences: Sequence[str],
        *,
        allows_anonymous: bool = True,
    ) -> None:
        self._authenticators = tuple(authenticators)
        self.own_audiences = tuple(own_audiences)
        self.allows_anonymous = allows_anonymous
        """Whether who brings no token is somebody, too, wherever they ask."""

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated:
        """The owner of a token. Raises BadToken with all that is wrong."""
        wrong: list[str] = [INVALID]
        for authenticator in self._authenticators:
            try:
                found = await authenticator.authenticate(token, audiences)
            except BadToken as exc:
                wrong.append(str(exc))
                continue
            if found is not None:
                user = authenticated(found.user)
                return found if user is found.user else replace(found, user=user)
        raise BadToken(f"[{', '.join(wrong)}]" if len(wrong) > 1 else INVALID)

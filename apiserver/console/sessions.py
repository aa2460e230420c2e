"""sessions: the session cookie of the console, which holds the user's bearer token, encrypted.

The server keeps no list of sessions: all workers and replicas with the same CA read the same cookies. Each request
authenticates the token again, so a token that has ended ends its session. A session that its user has ended is not
accepted any more, also from a copy of its cookie.

Must hold: a script cannot read the cookie (HttpOnly). A request of another site does not bring it (SameSite=Strict).
Without the header X-Console, which other sites cannot send, the cookie has no effect.
"""

import base64
import hashlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from aiohttp import hdrs, web
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from aio_apiserver.apiserver.console.ended_sessions import SECONDS, EndedSessions
from aio_apiserver.registry.base import errors

MARK = "X-Console"
_LONGEST = 3800
"""The limit of a cookie's value: browsers drop cookies of more than 4096 bytes."""
_PURPOSE = b"aio-apiserver console session"


class ConsoleSessions:
    """Makes and reads the cookies of one server. key_file: the private key of the server's CA."""

    def __init__(self, key_file: Path, ended: EndedSessions, now: Callable[[], float]) -> None:
        self._key_file = key_file
        self._ended = ended
        self._now = now

    async def token_of(self, request: web.BaseRequest) -> str:
        """The token in the cookie of a request; empty without a cookie. Raises Unauthorized for an ended session."""
        value, token = self._read(request)
        if token and await self._ended.has(token, value, self._cipher.extract_timestamp(value)):
            raise errors.Unauthorized
        return token

    def begin(self, response: web.StreamResponse, token: str) -> None:
        """Set the cookie. Raises BadRequest for a token that does not fit in a cookie."""
        value = self._cipher.encrypt_at_time(token.encode(), int(self._now())).decode()
        if len(value) > _LONGEST:
            raise errors.BadRequest("the token is too long for a session of the console")
        self._put(response, value, SECONDS)

    async def end(self, request: web.BaseRequest, *, is_authenticated: bool) -> None:
        """End the session of a request for all servers. Raises StatusError; then it has ended in this process alone.

        A session whose token does not authenticate its user writes nothing to the store.
        """
        value, token = self._read(request)
        if token and is_authenticated:
            await self._ended.end(token, value, int(self._now()))
        elif token:
            await self._ended.end_here(value)

    def sealed_token(self, request: web.BaseRequest) -> str:
        """The token in the cookie of a request, also of an ended session; empty without a cookie."""
        return self._read(request)[1]

    def remove_cookie(self, response: web.StreamResponse) -> None:
        """Let the browser forget the session."""
        self._put(response, "", 0)

    def _read(self, request: web.BaseRequest) -> tuple[str, str]:
        """The cookie of a request and the token in it; both empty without a valid one."""
        if hdrs.COOKIE not in request.headers or MARK not in request.headers:
            return "", ""
        value = request.cookies.get(self.cookie_name, "")
        if not _is_as_written(value):
            return "", ""
        try:
            plain = self._cipher.decrypt_at_time(value.encode(), SECONDS, int(self._now()))
        except (InvalidToken, ValueError):
            return "", ""
        return value, plain.decode()

    @cached_property
    def cookie_name(self) -> str:
        """Servers on other ports of this host share cookies with this one. So the name depends on the key."""
        return f"__Host-console-{hashlib.sha256(self._derived(b'name')).hexdigest()[:12]}"

    @cached_property
    def _cipher(self) -> Fernet:
        return Fernet(base64.urlsafe_b64encode(self._derived(b"cipher")))

    def _derived(self, use: bytes) -> bytes:
        key = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=_PURPOSE + b" " + use)
        return key.derive(self._key_file.read_bytes())

    def _put(self, response: web.StreamResponse, value: str, seconds: int) -> None:
        response.set_cookie(
            self.cookie_name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="Strict"
        )


def _is_as_written(value: str) -> bool:
    """Whether this is the text that `begin` wrote. Base64 is read leniently: other texts would be the same session."""
    try:
        return base64.urlsafe_b64encode(base64.urlsafe_b64decode(value)).decode() == value
    except ValueError:
        return False

"""Front proxy: the user that an authenticating proxy names in its request headers. Pure.

Must hold: the caller has verified the client certificate of the proxy before it uses the headers.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from msgspec import Struct

from aio_apiserver.registry.generic.access.users import UserInfo

USERNAME_HEADERS = ("X-Remote-User",)
GROUP_HEADERS = ("X-Remote-Group",)
EXTRA_PREFIXES = ("X-Remote-Extra-",)


class FrontProxy(Struct, frozen=True, kw_only=True):
    """The flags of the request header authenticator. Empty `allowed_names`: any common name."""

    allowed_names: Sequence[str] = ()
    username_headers: Sequence[str] = USERNAME_HEADERS
    uid_headers: Sequence[str] = ()
    group_headers: Sequence[str] = GROUP_HEADERS
    extra_prefixes: Sequence[str] = EXTRA_PREFIXES

    def trusts(self, common_name: str) -> bool:
        """Whether a proxy with this common name may name users. Its certificate is verified already."""
        return not self.allowed_names or common_name in self.allowed_names

    def user_of(self, headers: Iterable[tuple[str, str]]) -> UserInfo | None:
        """The user in the headers; None when they name no user."""
        given = [(name.lower(), value) for name, value in headers]
        name = self._first(given, self.username_headers)
        if not name:
            return None
        wanted = {header.lower() for header in self.group_headers}
        groups = tuple(value for header, value in given if header in wanted)
        extra: dict[str, list[str]] = {}
        for header, value in given:
            for prefix in self.extra_prefixes:
                if header.startswith(prefix.lower()):
                    extra.setdefault(unquote(header[len(prefix) :]), []).append(value)
        return UserInfo(name=name, uid=self._first(given, self.uid_headers), groups=groups, extra=extra)

    def _first(self, given: Sequence[tuple[str, str]], headers: Sequence[str]) -> str:
        """The first value that is not empty, in the order of the header names."""
        for header in headers:
            for name, value in given:
                if name == header.lower() and value:
                    return value
        return ""

"""Locations: where a request goes on that this server does not answer itself, and how its answer comes back.

Pure data: the registry says where, the server goes there. Must hold: a location is decided on objects that the user may
read through, never on what a client says alone.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct

Query = Mapping[str, Sequence[str]]


class Passage(Enum):
    """What goes through."""

    LOG = "log"
    """The answer's bytes, as text."""
    STREAM = "stream"
    """The connection itself: it has to be upgraded."""
    PROXY = "proxy"
    """Requests and answers, and connections that are upgraded."""


class Location(Struct, frozen=True, kw_only=True):
    """A place in the cluster. `port` is empty for that of the scheme; `query` is the client's own when it is None.

    headers: what goes along beside the client's own headers.
    is_kubelet: the server identifies itself there, and verifies the certificate as its flags say; is_verified: unless
    the client does not care. is_guarded: the host is a name that must mean nothing but addresses of the network.
    refuses_redirects: the client gets no redirect from there.
    """

    passage: Passage
    scheme: str
    host: str
    port: str = ""
    path: str = ""
    query: Sequence[tuple[str, str]] | None = None
    headers: Sequence[tuple[str, str]] = ()
    is_kubelet: bool = False
    is_verified: bool = True
    is_guarded: bool = False
    refuses_redirects: bool = False

    @property
    def authority(self) -> str:
        """Host and port as a URL has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host


class Call(Struct, frozen=True, kw_only=True):
    """What a client asks of a place: its verb, its query, and the path behind the name of the subresource."""

    verb: str
    query: Query
    path: str = ""

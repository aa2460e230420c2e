"""Locations: the address to which the server forwards a request (exec, logs, port-forward, proxy), upstream's Location.

Pure data: the registry decides on the location, the server connects to it.

Must hold: a location comes from objects that the user may read, not from the words of the client alone.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct

Query = Mapping[str, Sequence[str]]


class Passage(Enum):
    """The kinds of forwarding."""

    LOG = "log"
    """The bytes of the answer, as text."""
    STREAM = "stream"
    """The upgraded connection itself, in both directions."""
    PROXY = "proxy"
    """Requests and answers, and upgraded connections."""


class Location(Struct, frozen=True, kw_only=True):
    """The address of a backend in the cluster. `port` is empty for the port of the scheme.

    query: None means the client's own query.
    headers: added to the headers of the client.
    is_kubelet: the server presents its client certificate and verifies the kubelet as its flags say.
    is_verified: False when the client asked to skip the verification of the backend's certificate.
    is_guarded: the host is a name that may resolve only to addresses in the network.
    refuses_redirects: the client gets no redirect from the backend.
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
        """Host and port as in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host


class ConnectRequest(Struct, frozen=True, kw_only=True):
    """A client's request to a subresource that connects: verb, query, and the path behind the subresource's name."""

    verb: str
    query: Query
    path: str = ""

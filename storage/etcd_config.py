"""etcd_config: the addresses of the etcd members, the client's TLS files and user, and the time limits.

Pure: nothing is opened here. Must hold: a password never shows in a repr.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from aio_apiserver.storage.errors import InvalidOptions

DEFAULT_PORT = 2379
UNIX = "unix:"
"""The prefix of a Unix socket's target."""


class Tls(Struct, frozen=True, kw_only=True):
    """PEM files. Without an authority, gRPC's certificate authorities are trusted."""

    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """A user of etcd's own authentication."""

    user: str
    password: str = field(repr=False)


class EtcdConfig(Struct, frozen=True, kw_only=True):
    """The connection settings of one etcd cluster.

    endpoints: URLs of members: http://host:port, https://host:port, unix:///path; a bare host:port is http.

    deadline: seconds after which every request has been answered or has failed, retries included; each page of a large
    range is a request.

    keepalive: seconds of silence after which a connection in use is probed. keepalive_timeout: seconds that the answer
    may take. etcd by default disconnects clients that probe more often than every 5 seconds.

    probe_key: the key that is read to learn the revision and the health; the configured user needs the right to read
    it.
    """

    endpoints: Sequence[str]
    tls: Tls = Tls()
    login: Login | None = None
    deadline: float = 10.0
    keepalive: float = 10.0
    keepalive_timeout: float = 5.0
    probe_key: bytes = b"/registry/health"


class EndpointAddress(Struct, frozen=True):
    """An endpoint in gRPC's form."""

    target: str
    is_secure: bool


def parse_endpoint(url: str) -> EndpointAddress:
    """The address in an endpoint URL. Raises InvalidOptions.

    >>> parse_endpoint("https://10.0.0.1:2379")
    EndpointAddress(target='10.0.0.1:2379', is_secure=True)
    """
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme == "unix" and parts.path:
        return EndpointAddress(f"{UNIX}{parts.netloc}{parts.path}", is_secure=False)
    try:
        host, port = parts.hostname, parts.port or DEFAULT_PORT
    except ValueError as exc:
        raise InvalidOptions(f"etcd endpoint {url!r}: {exc}") from exc
    if parts.scheme not in {"http", "https"} or not host or parts.path not in {"", "/"} or parts.query:
        raise InvalidOptions(f"etcd endpoint {url!r} is not of the form http[s]://host:port")
    host = f"[{host}]" if ":" in host else host
    return EndpointAddress(f"{host}:{port}", is_secure=parts.scheme == "https")

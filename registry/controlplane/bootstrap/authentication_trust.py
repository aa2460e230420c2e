"""authentication_trust: publishes the ConfigMap extension-apiserver-authentication, for extension API servers.

It holds the CAs of clients and front proxies, and the names of the front proxies' headers. Several servers on one
storage may have different CAs. Each adds its own, and keeps the others' until they expire. Must hold: without CAs there
is no ConfigMap. Content that cannot be read is replaced.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import orjson
from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS

_PLACE = ResourcePath(CONFIGMAPS.group, "v1", CONFIGMAPS.plural)
_NAMESPACE = "kube-system"
_NAME = "extension-apiserver-authentication"
_SLACK_SECONDS = 300.0
"""How long an expired certificate is still published: clocks differ."""
_CLIENTS, _PROXIES = "client-ca-file", "requestheader-client-ca-file"


class Trust(Struct, frozen=True, kw_only=True):
    """The CAs and headers of one server. Authorities are certificates in PEM; empty when there are none."""

    client_authorities: bytes = b""
    proxy_authorities: bytes = b""
    username_headers: Sequence[str] = ()
    uid_headers: Sequence[str] = ()
    group_headers: Sequence[str] = ()
    extra_prefixes: Sequence[str] = ()
    allowed_names: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.client_authorities or self.proxy_authorities)

    def lists(self) -> Mapping[str, Sequence[str]]:
        """The ConfigMap's entries about front proxies; that of uids only if uid headers are configured."""
        stored = {
            "requestheader-username-headers": self.username_headers,
            "requestheader-uid-headers": self.uid_headers,
            "requestheader-group-headers": self.group_headers,
            "requestheader-extra-headers-prefix": self.extra_prefixes,
            "requestheader-allowed-names": self.allowed_names,
        }
        return (
            stored if self.uid_headers else {key: stored[key] for key in stored if key != "requestheader-uid-headers"}
        )


Publish = Callable[[], Trust]
"""The present CAs and headers of a server."""


def nothing() -> Trust:
    """The Publish of a server without CAs."""
    return Trust()


async def ensure(client: OwnClient, trust: Trust, clock: Clock) -> None:
    """Publish this server's CAs and headers, beside those of other servers."""
    if trust.is_empty:
        return
    obj = {"metadata": {"name": _NAME}, "data": data_of(trust, {}, now=clock.now())}
    await client.create_missing(_PLACE, obj, namespace=_NAMESPACE)
    await client.change(_PLACE, _NAME, partial(_mend, trust=trust, now=clock.now()), namespace=_NAMESPACE)


def _mend(obj: Object, *, trust: Trust, now: float) -> bool:
    wanted = data_of(trust, obj.get("data") or {}, now=now)
    if obj.get("data") == wanted:
        return False
    obj["data"] = wanted
    return True


def data_of(trust: Trust, stored: Mapping[str, str], *, now: float) -> dict[str, str]:
    """The ConfigMap's data at a time: the previous content with this server's."""
    data: dict[str, str] = {}
    if clients := _authorities(stored.get(_CLIENTS, ""), trust.client_authorities, now):
        data[_CLIENTS] = clients
    if proxies := _authorities(stored.get(_PROXIES, ""), trust.proxy_authorities, now):
        data[_PROXIES] = proxies
        for key, own in trust.lists().items():
            data[key] = orjson.dumps(list(dict.fromkeys([*_list(stored.get(key, "")), *own]))).decode()
    return data


def _list(text: str) -> list[str]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    return [str(one) for one in value] if isinstance(value, list) else []


def _authorities(stored: str, own: bytes, now: float) -> str:
    return "".join(dict.fromkeys([*_certificates(stored.encode(), now), *_certificates(own, now)]))


def _certificates(bundle: bytes, now: float) -> Iterator[str]:
    """The certificates of a bundle that have not expired, each in PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        certificates = x509.load_pem_x509_certificates(bundle) if bundle else []
    except ValueError:
        return
    for one in certificates:
        if one.not_valid_after_utc.timestamp() > now - _SLACK_SECONDS:
            yield one.public_bytes(Encoding.PEM).decode()

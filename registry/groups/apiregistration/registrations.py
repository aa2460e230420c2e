"""Registrations: the versions of API groups for which an APIService names a service, as they are now.

Followed, so that a request finds its registration in one look. Must hold: what this server answers itself has none; of
two for one version the first one by name counts.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.generic.following import Following, Watched
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import Object, StoredObject

AVAILABLE = "Available"
_PORT = 443

GroupVersion = tuple[str, str]


class Registration(Struct, frozen=True, kw_only=True):
    """What an APIService says.

    authorities: who may have signed the certificate of the service, in PEM as base64; none means those of the machine.
    is_unverified: any certificate will do.
    """

    name: str
    group: str
    version: str
    group_priority: int
    version_priority: int
    namespace: str
    service: str
    port: int
    authorities: str
    is_unverified: bool
    is_available: bool

    @property
    def host(self) -> str:
        """The name on the certificate of the service."""
        return f"{self.service}.{self.namespace}.svc"

    @property
    def root(self) -> str:
        """The path of the version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def read(obj: Object) -> Registration | None:
    """What an object says; None of one without a service."""
    spec = obj["spec"]
    service = spec.get("service")
    if not service:
        return None
    return Registration(
        name=obj["metadata"]["name"],
        group=spec.get("group", ""),
        version=spec.get("version", ""),
        group_priority=spec.get("groupPriorityMinimum") or 0,
        version_priority=spec.get("versionPriority") or 0,
        namespace=service.get("namespace", ""),
        service=service.get("name", ""),
        port=service.get("port") or _PORT,
        authorities=spec.get("caBundle") or "",
        is_unverified=bool(spec.get("insecureSkipTLSVerify")),
        is_available=_is_available(obj),
    )


class _Read(NamedTuple):
    """What is known of an APIService: whether it is available, and its registration if it names a service."""

    is_available: bool
    registration: Registration | None


class Registrations:
    """Of one server. `changed` is set, and who has subscribed is called, whenever an APIService has changed."""

    def __init__(self, storage: Watched) -> None:
        self.changed = asyncio.Event()
        self._by_version: dict[GroupVersion, Registration] = {}
        self._subscribers: list[Callable[[], None]] = []
        self._following: Following[_Read] = Following(storage, _read, self._note_change)

    @property
    def by_version(self) -> Mapping[GroupVersion, Registration]:
        """By group and version."""
        return self._by_version

    @property
    def availability(self) -> Mapping[str, bool]:
        """Whether the APIServices are available, by name; those of this server, too."""
        return {name: one.is_available for name, one in self._following.items.items()}

    def subscribe(self, call: Callable[[], None]) -> None:
        """Have something called after each change."""
        self._subscribers.append(call)

    async def run(self, clock: Clock) -> None:
        """Follow until cancelled."""
        await self._following.run(clock)

    def _note_change(self, _keys: Collection[str]) -> None:
        items = self._following.items
        found = [one for name in sorted(items, reverse=True) if (one := items[name].registration) is not None]
        self._by_version = {(one.group, one.version): one for one in found}
        for call in self._subscribers:
            call()
        self.changed.set()


def _read(stored: StoredObject) -> _Read:
    obj = stored.decode()
    return _Read(_is_available(obj), read(obj))


def _is_available(obj: Object) -> bool:
    condition = conditions.find(obj.get("status") or {}, AVAILABLE) or {}
    return condition.get("status") == "True"

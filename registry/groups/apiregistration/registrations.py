"""Registrations: the group versions that aggregated servers serve, as their APIServices name them now.

A watch keeps them current, so that a request finds its registration in one lookup. Must hold: local APIServices have no
registration. Of two APIServices for one version, the first by name wins.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.generic.following import Following, Watched
from aio_apiserver.storage.stored_object import StoredObject

AVAILABLE = "Available"
_PORT = 443

GroupVersion = tuple[str, str]


class Registration(Struct, frozen=True, kw_only=True):
    """The facts of an APIService with a service.

    `authorities` is the CA bundle in base64; an empty one means the CAs of the machine. `is_unverified` means that
    every certificate is accepted.
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
        """The host name in the certificate of the service."""
        return f"{self.service}.{self.namespace}.svc"

    @property
    def root(self) -> str:
        """The URL path of the version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def read(obj: Object) -> Registration | None:
    """The registration of an APIService; None for a local one."""
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
    """Whether an APIService is available, and its registration when it names a service."""

    is_available: bool
    registration: Registration | None


class Registrations:
    """The registrations that one server knows. After each change, `changed` is set and the subscribers are called."""

    def __init__(self, storage: Watched) -> None:
        self.changed = asyncio.Event()
        self._by_version: dict[GroupVersion, Registration] = {}
        self._subscribers: list[Callable[[], None]] = []
        self._following: Following[_Read] = Following(storage, _read, self._note_change)

    @property
    def by_version(self) -> Mapping[GroupVersion, Registration]:
        """The registrations by group and version."""
        return self._by_version

    @property
    def availability(self) -> Mapping[str, bool]:
        """Whether each APIService is available, by name. Local ones are included."""
        return {name: one.is_available for name, one in self._following.items.items()}

    def subscribe(self, call: Callable[[], None]) -> None:
        """Call a function after each change."""
        self._subscribers.append(call)

    async def run(self, clock: Clock) -> None:
        """Watch APIServices until cancelled."""
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

"""Factory: StorageFactory, the storages of all resources and the parts below them, from one configuration.

It opens the kv engines (one for each list of servers), compacts them, and reads the encryption configuration. It makes
a KVStore for each resource and a Cacher on it. Parts that not every server needs are imported at their first use, since
gRPC and cryptography take long to import.

Must hold: everything opened is closed in reverse order, even when opening fails halfway. Two resources with the same
servers share one engine.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.storage import codec, leases
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.codec import Codec
from aio_apiserver.storage.errors import Compacted, InvalidOptions, StorageError
from aio_apiserver.storage.factory import servers_overrides, unfinished_copy
from aio_apiserver.storage.factory.key_prefixes import key_prefix
from aio_apiserver.storage.factory.measured_origin import Latencies, MeasuredOrigin
from aio_apiserver.storage.factory.servers_overrides import ServersOverride
from aio_apiserver.storage.factory.shared_secrets import SharedSecrets
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.interface import Resource, Storage
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.snapshot import Snapshot
from aio_apiserver.storage.store import compactor
from aio_apiserver.storage.store.compactor import HistoryCompactor
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.store_limits import NO_LIMITS, RESERVE_BYTES, StoreLimits
from aio_apiserver.storage.stored_object import Encodings
from aio_apiserver.storage.transformers.transformer import TransformerFor, identity_for

if TYPE_CHECKING:
    from aio_apiserver.storage.encryption.service import Encryption
    from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
    from aio_apiserver.storage.kv.etcd.database_size import DatabaseSize
    from aio_apiserver.storage.kv.memory import MemoryKV
    from aio_apiserver.storage.kv.replay import EmbeddedKV

logger = logging.getLogger(__name__)

_HISTORY_BYTES = 1 << 30
_HISTORY_BYTES_IN_MEMORY = 32 << 20
"""The past values of an embedded store, on disk and in memory. More of them are compacted before their time."""


class StorageConfig(Struct, frozen=True, kw_only=True):
    """The configuration of the factory.

    etcd: the etcd servers; without it, SQLite in data_dir, and without that, memory.
    overrides: resources on other etcd servers, with the credentials in `etcd`.
    compaction_interval: seconds; 0 switches compaction off.
    size_interval: the seconds between two questions to etcd for the size of its database; 0 never asks.
    quota_bytes: of an embedded store; 0 for none.
    uncached: more resources without a cache, as (group, resource); without watch_cache no resource has one.
    shared_at: the Unix socket on which several processes share the embedded store; one of them owns it.
    """

    etcd: "EtcdConfig | None" = None
    data_dir: Path | None = None
    prefix: str = "/registry"
    overrides: Sequence[ServersOverride] = ()
    media_type: str = codec.MSGPACK.media_type
    encryption_config: Path | None = None
    reloads_encryption_config: bool = False
    watch_cache: bool = True
    uncached: frozenset[tuple[str, str]] = frozenset()
    compaction_interval: float = compactor.INTERVAL
    size_interval: float = 0.0
    quota_bytes: int = 0
    lease_reuse_seconds: int = leases.REUSE_SECONDS
    shared_at: Path | None = None
    owns_store: bool = True


class _Backend(Struct, frozen=True):
    """A kv engine and the parts that its stores share. `name`: the name of its health check."""

    name: str
    kv: KV
    leases: LeaseManager
    compactor: HistoryCompactor
    size: "DatabaseSize | None"


def _unchanged(resource: Resource) -> Resource:
    return resource


class StorageFactory:
    """Makes storages. An asynchronous context manager: entering opens all parts, leaving closes them.

    beginning: the initial content of a store in memory. messages: the codec of kube-apiserver's protobuf.
    adapt: makes the facts of a resource those of the server's own version. is_traced: whether calls begin spans.
    """

    def __init__(
        self,
        config: StorageConfig,
        *,
        clock: Clock | None = None,
        latencies: Latencies | None = None,
        beginning: Snapshot | None = None,
        messages: Codec | None = None,
        adapt: Callable[[Resource], Resource] = _unchanged,
        is_traced: bool = False,
    ) -> None:
        self._config = config
        self._codec = _codec_of(config.media_type, messages)
        self._messages = messages
        self._adapt = adapt
        self._is_traced = is_traced
        self._clock = clock or SystemClock()
        self._patience = self._clock.patience
        self._latencies = latencies or Latencies()
        self._beginning = beginning
        self._encryption: Encryption | None = None
        self._backends: dict[frozenset[str], _Backend] = {}
        self._storages: dict[tuple[str, str, str], Storage] = {}
        self._encodings = Encodings()
        self._windows = WindowMemory(self._patience)
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opening:
            await self._open_encryption(opening)
            await self._open_backends(opening)
            self._windows.start()
            opening.push_async_callback(self._windows.close)
            opening.push_async_callback(self._close_storages)
            self._opened = opening.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._opened.aclose()

    def storage_for(self, resource: Resource) -> Storage:
        """The storage of a resource; the same one until it is retired.

        Raises NotStorable for a resource whose type cannot be written and read again.
        """
        named = (resource.group, resource.resource, resource.view)
        storage = self._storages.get(named)
        if storage is None:
            storage = self._storages[named] = self._make(self._adapt(resource))
        return storage

    def opened(self, group: str, resource: str, view: str) -> Storage | None:
        """The storage of a resource in a view, when it is open."""
        return self._storages.get((group, resource, view))

    async def warm(self) -> None:
        """Fill the caches of all existing storages, one after the other.

        A cache also fills itself at its first use, for which the first clients of a server would wait.
        """
        for storage in list(self._storages.values()):
            try:
                await storage.wait_until_ready()
            except StorageError as exc:
                logger.warning("a cache is not filled yet: %s", exc)

    def retire(self, resource: Resource) -> Storage | None:
        """Forget the storage of a resource that is deleted or changes; the next use makes a new one.

        The caller closes the returned storage when it is not used any more.
        """
        return self._storages.pop((resource.group, resource.resource, resource.view), None)

    @property
    def shared_secrets(self) -> SharedSecrets | None:
        """The values that all servers on the same etcd share; None for an embedded store."""
        if not self._main_servers:
            return None
        return SharedSecrets(self._backend(()).kv, self._config.prefix, self._transformer_for("", "secrets"))

    @property
    def is_in_memory(self) -> bool:
        """Whether the only store is in memory, which supports snapshots."""
        config = self._config
        return config.etcd is None and config.data_dir is None and config.owns_store and not config.overrides

    async def refuse_unfinished_copies(self) -> None:
        """Raise UnfinishedCopy when a restore or a migration into one of the stores is not complete."""
        for backend in self._backends.values():
            await unfinished_copy.refuse(backend.kv, self._config.prefix)

    async def current_revision(self) -> int:
        """The revision of the main store."""
        return await self._backend(()).kv.current_revision()

    async def compact(self) -> int:
        """Compact every store to its present revision. Returns that of the main store."""
        for backend in self._backends.values():
            with contextlib.suppress(Compacted):
                await backend.kv.compact(await backend.kv.current_revision())
        return await self.current_revision()

    def snapshot(self) -> Snapshot:
        """A snapshot of a store in memory. Raises InvalidOptions."""
        return self._memory.snapshot()

    async def restore(self, wanted: Snapshot) -> int:
        """Restore a snapshot. After the return, every cache shows its content. Raises InvalidOptions."""
        revision = self._memory.restore(wanted)
        await self.catch_up(revision)
        return revision

    async def catch_up(self, revision: int) -> None:
        """Wait until every cache has reached a revision of the main store."""
        cachers = (storage for storage in self._storages.values() if isinstance(storage, Cacher))
        await asyncio.gather(*(cacher.catch_up(revision) for cacher in cachers))

    def recent_changes(self, revision: int, most: int) -> Iterator[tuple[str, str, Change]]:
        """The changes after a revision that the watch caches still have, with the group and resource of each.

        They are in order for each resource. At most `most` of the newest for each.
        """
        seen = set()
        for (group, resource, _), storage in list(self._storages.items()):
            if isinstance(storage, Cacher) and (group, resource) not in seen:
                seen.add((group, resource))
                yield from ((group, resource, change) for change in storage.recent_changes(revision, most))

    def recent_changes_of(self, group: str, resource: str, revision: int, most: int) -> Sequence[Change]:
        """The newest changes of one resource after a revision that its watch cache still has, in order."""
        for (its_group, its_resource, _), storage in list(self._storages.items()):
            if isinstance(storage, Cacher) and (its_group, its_resource) == (group, resource):
                return storage.recent_changes(revision, most)
        return ()

    @property
    def health_names(self) -> Sequence[str]:
        """The names of the health checks."""
        names = [backend.name for backend in self._backends.values()]
        return [*names, "kms-providers"] if self._has_plugins else names

    async def health(self) -> Mapping[str, Health]:
        """The health checks etcd, etcd-override-0 ... and kms-providers, as in kube-apiserver. Raises nothing."""
        backends = self._backends.values()
        answers = await asyncio.gather(*(backend.kv.health() for backend in backends))
        found = dict(zip((backend.name for backend in backends), answers, strict=True))
        if self._encryption is not None and self._has_plugins:
            found["kms-providers"] = await self._encryption.health()
        return found

    def statistics_of(self, group: str, resource: str) -> Mapping[str, Any]:
        """The statistics of one storage; empty if it does not exist."""
        for (its_group, its_resource, _), storage in self._storages.items():
            if (its_group, its_resource) == (group, resource):
                return storage.statistics()
        return {}

    def statistics(self) -> Mapping[str, Any]:
        return {
            "storages": self._statistics_of_storages(),
            "backends": {
                backend.name: {
                    "kv": {
                        **backend.kv.statistics(),
                        **(backend.size.statistics() if backend.size is not None else {}),
                    },
                    "leases": backend.leases.statistics(),
                    "compactor": backend.compactor.statistics(),
                }
                for backend in self._backends.values()
            },
            "encryption": self._encryption.statistics() if self._encryption is not None else {},
            "encodings": self._encodings.statistics(),
            "windows": self._windows.statistics(),
        }

    @property
    def _memory(self) -> "MemoryKV":
        from aio_apiserver.storage.kv.memory import MemoryKV

        kv = self._backend(()).kv
        if not (self.is_in_memory and isinstance(kv, MemoryKV)):
            raise InvalidOptions("only a store in memory can be put back to an earlier state")
        return kv

    def _statistics_of_storages(self) -> Mapping[str, Any]:
        """By resource. The first view of a resource has the resource's name, the others add theirs."""
        found: dict[str, Any] = {}
        for (group, resource, view), storage in self._storages.items():
            name = f"{resource}.{group}".rstrip(".")
            found[name if name not in found else f"{name}/{view}"] = storage.statistics()
        return found

    @property
    def _has_plugins(self) -> bool:
        return self._encryption is not None and self._encryption.has_health_check

    def _make(self, resource: Resource) -> Storage:
        named = (resource.group, resource.resource)
        backend = self._backend(servers_overrides.servers_of(self._config.overrides, *named))
        is_cached = self._config.watch_cache and resource.is_cached and named not in self._config.uncached
        make_origin, make_cacher, see = _traced() if self._is_traced else _untraced()
        store = KVStore(
            see(backend.kv),
            resource,
            prefix=key_prefix(self._config.prefix, resource.place or resource.resource),
            codec=codec.chosen(self._codec, resource.type_meta, is_json=resource.is_json),
            transformer=self._transformer_for(*named),
            leases=backend.leases,
            clock=self._patience,
            encodings=self._encodings,
            messages=self._messages,
            decodes_lists=not is_cached,
        )
        origin = make_origin(store, resource, self._latencies, self._patience)
        return make_cacher(origin, resource, self._windows, clock=self._patience) if is_cached else origin

    @property
    def _transformer_for(self) -> TransformerFor:
        return self._encryption.transformer if self._encryption is not None else identity_for

    async def _open_encryption(self, opening: AsyncExitStack) -> None:
        config = self._config
        if config.encryption_config is None:
            return
        from aio_apiserver.storage.encryption.service import Encryption

        self._encryption = await Encryption.start(
            config.encryption_config, clock=self._patience, reloads=config.reloads_encryption_config
        )
        opening.push_async_callback(self._encryption.close)

    def _backend(self, servers: Sequence[str]) -> _Backend:
        return self._backends[frozenset(servers or self._main_servers)]

    @property
    def _main_servers(self) -> Sequence[str]:
        """The etcd servers of resources without override; empty for an embedded store."""
        return self._config.etcd.endpoints if self._config.etcd is not None else ()

    async def _open_backends(self, opening: AsyncExitStack) -> None:
        await self._open_backend("etcd", self._main_servers, opening)
        for number, servers in enumerate(servers_overrides.distinct(self._config.overrides)):
            if frozenset(servers) not in self._backends:
                await self._open_backend(f"etcd-override-{number}", servers, opening)

    async def _open_backend(self, name: str, servers: Sequence[str], opening: AsyncExitStack) -> None:
        config, clock = self._config, self._clock
        size: DatabaseSize | None = None
        if servers:
            kv: KV = (etcd := open_etcd(config, servers, clock.patience))
            opening.push_async_callback(etcd.close)
            size = _measured(etcd, clock.patience, config.size_interval)
            opening.push_async_callback(size.close)
        else:
            kv = await _open_embedded(config, clock, self._beginning, opening)
        of_leases = self._patience if servers else clock  # an etcd counts their seconds itself
        leases = LeaseManager(kv, clock=of_leases, reuse_seconds=config.lease_reuse_seconds)
        compacting = HistoryCompactor(kv, clock=clock, interval=config.compaction_interval)
        backend = _Backend(name, kv, leases, compacting, size)
        opening.push_async_callback(backend.compactor.close)
        backend.compactor.start()
        self._backends[frozenset(servers)] = backend

    async def _close_storages(self) -> None:
        storages = list(self._storages.values())
        self._storages.clear()
        failures = await asyncio.gather(*(storage.close() for storage in storages), return_exceptions=True)
        raised = [failure for failure in failures if failure is not None]
        if raised:
            raise BaseExceptionGroup("storages failed to close", raised)


def _measured(etcd: "EtcdKV", clock: Clock, interval: float) -> "DatabaseSize":
    """The size of an etcd's database, asked for in the background."""
    from aio_apiserver.storage.kv.etcd.database_size import DatabaseSize

    size = DatabaseSize(etcd.database_bytes, clock, interval=interval)
    size.start()
    return size


_Classes = tuple[type[MeasuredOrigin], type[Cacher], Callable[[KV], KV]]
"""Those of an origin and a cacher, and how a store sees its kv engine."""


def _untraced() -> _Classes:
    return MeasuredOrigin, Cacher, _itself


def _itself(kv: KV) -> KV:
    return kv


def _traced() -> _Classes:
    """The storages that begin spans."""
    from aio_apiserver.storage.cacher.traced_cacher import TracedCacher
    from aio_apiserver.storage.factory.traced_kv import TracedKV
    from aio_apiserver.storage.factory.traced_origin import TracedOrigin

    return TracedOrigin, TracedCacher, TracedKV


def _codec_of(media_type: str, messages: Codec | None) -> Codec:
    """The codec of --storage-media-type. Raises InvalidOptions."""
    known = dict(codec.BY_MEDIA_TYPE)
    if messages is not None:
        known[messages.media_type] = messages
    if media_type not in known:
        raise InvalidOptions(f"--storage-media-type {media_type!r} invalid, allowed values: {', '.join(known)}")
    return known[media_type]


async def open_kv(config: StorageConfig, servers: Sequence[str], clock: Clock, beginning: Snapshot | None) -> KV:
    """The kv engine of these etcd servers; without servers, the embedded one, of this process alone."""
    if servers:
        return open_etcd(config, servers, clock.patience)
    return await _open_own(config.data_dir, clock, beginning, NO_LIMITS)


async def _open_embedded(
    config: StorageConfig, clock: Clock, beginning: Snapshot | None, opening: AsyncExitStack
) -> KV:
    """The embedded store: of this process, or of the one that owns it."""
    if config.shared_at is not None and not config.owns_store:
        from aio_apiserver.storage.kv.unix import UnixKV

        shared = UnixKV(config.shared_at, clock=clock)
        opening.push_async_callback(shared.close)
        return shared
    kv = await _open_own(config.data_dir, clock, beginning, _limits_of(config))
    opening.push_async_callback(kv.close)
    if config.shared_at is not None:
        from aio_apiserver.storage.kv.unix import KVService

        service = await KVService.open(kv, config.shared_at)
        opening.push_async_callback(service.close)
    return kv


def _limits_of(config: StorageConfig) -> StoreLimits:
    """The bounds of an embedded store. Its history has an eighth of the quota at most."""
    reserve_bytes = RESERVE_BYTES if config.data_dir is not None else 0
    if not config.compaction_interval:
        return StoreLimits(quota_bytes=config.quota_bytes, reserve_bytes=reserve_bytes)
    history_bytes = _HISTORY_BYTES if config.data_dir is not None else _HISTORY_BYTES_IN_MEMORY
    if config.quota_bytes:
        history_bytes = min(history_bytes, config.quota_bytes // 8)
    return StoreLimits(quota_bytes=config.quota_bytes, history_bytes=history_bytes, reserve_bytes=reserve_bytes)


async def _open_own(
    data_dir: Path | None, clock: Clock, beginning: Snapshot | None, limits: StoreLimits
) -> "EmbeddedKV":
    """The store in a directory, or in memory without one."""
    if data_dir is not None:
        from aio_apiserver.storage.kv.sqlite import SqliteKV

        return await SqliteKV.open(data_dir, clock=clock, limits=limits)
    from aio_apiserver.storage.kv.memory import MemoryKV

    return MemoryKV(clock=clock, beginning=beginning, limits=limits)


def open_etcd(config: StorageConfig, servers: Sequence[str], clock: Clock) -> "EtcdKV":
    """The kv engine of these etcd servers. None of them has to answer yet."""
    from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV

    credentials = config.etcd or EtcdConfig(endpoints=servers)
    probe_key = f"{config.prefix.rstrip('/')}/health".encode()
    return EtcdKV(replace(credentials, endpoints=servers, probe_key=probe_key), clock=clock)

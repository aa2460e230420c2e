"""Opening: the store that a StorageConfig names, for a copy: to read it beside its servers, or to write it.

Must hold: a store in memory, and one that is spread over several etcds, are refused, because no copy could be whole.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.factory import factory
from aio_apiserver.storage.factory.factory import StorageConfig
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.kv.sqlite.data_dir import DataDir
from aio_apiserver.storage.kv.sqlite.file_reader import FileReader
from aio_apiserver.storage.transfer.contents import RecordSource


@asynccontextmanager
async def reading(config: StorageConfig, clock: Clock | None = None) -> AsyncIterator[RecordSource]:
    """The store to read; its servers may run. Raises InvalidOptions, StorageError."""
    source = _source(config, clock or SystemClock())
    try:
        yield source
    finally:
        await source.close()


@asynccontextmanager
async def writing(config: StorageConfig, clock: Clock | None = None) -> AsyncIterator[KV]:
    """The store to write; a data directory must not be in use. Raises InvalidOptions, StorageError."""
    check(config)
    servers = config.etcd.endpoints if config.etcd is not None else ()
    kv = await factory.open_kv(config, servers, clock or SystemClock(), None)
    try:
        yield kv
    finally:
        await kv.close()


def check(config: StorageConfig) -> None:
    """Raises InvalidOptions for a store that has no whole copy."""
    if config.overrides:
        raise InvalidOptions("--etcd-servers-overrides: name one etcd at a time with --etcd-servers")
    if config.etcd is None and config.data_dir is None:
        raise InvalidOptions("a store in memory ends with its server: name --data-dir or --etcd-servers")


def check_unused(config: StorageConfig) -> None:
    """Raises DataDirLocked when a process uses the data directory, OSError."""
    if config.etcd is not None or config.data_dir is None:
        return
    DataDir(config.data_dir).check()
    check_unused_directory(config.data_dir)


def check_unused_directory(data_dir: Path) -> None:
    """Raises DataDirLocked when a process uses the directory, OSError."""
    DataDir(data_dir).check_unused()


def _source(config: StorageConfig, clock: Clock) -> RecordSource:
    check(config)
    if config.etcd is not None:
        return factory.open_etcd(config, config.etcd.endpoints, clock)
    assert config.data_dir is not None, "checked"
    return FileReader(config.data_dir)

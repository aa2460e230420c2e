"""Migrate: `apiserver migrate`, copies a store to another one: embedded to etcd, etcd to embedded, etcd to etcd.

A data directory gets the objects with their revisions; an etcd gets them under revisions that are newer. After a kill,
the same command continues on an etcd. On a data directory it begins again; when all is written, it compares. Must
hold: at the end, all keys and values are compared byte by byte, and a difference is a failure.
"""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from aio_apiserver.apiserver.commands.terminal import command_lines
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine, list_flag, text_flag
from aio_apiserver.apiserver.commands.terminal.progress import progress
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.config.storage_config import config_of
from aio_apiserver.storage.errors import StoreNotEmpty
from aio_apiserver.storage.factory.factory import StorageConfig
from aio_apiserver.storage.kv.sqlite import loading
from aio_apiserver.storage.transfer import applying, opening
from aio_apiserver.storage.transfer.contents import Contents, contents_of

_OWN = (
    text_flag("to-data-dir", "The data directory to write; it must have no store."),
    list_flag("to-etcd-servers", "The etcd servers to write; they must have no objects below --etcd-prefix."),
    text_flag("to-etcd-cafile", "As --etcd-cafile, for the etcd to write."),
    text_flag("to-etcd-certfile", "As --etcd-certfile, for the etcd to write."),
    text_flag("to-etcd-keyfile", "As --etcd-keyfile, for the etcd to write."),
)
MANUAL = CommandManual(
    about="Copies a store to another one, and compares all keys and values of both at the end. Stop the servers of "
    "both first. After an interruption, run the same command again.",
    usage=("migrate {--data-dir=... | --etcd-servers=...} {--to-data-dir=... | --to-etcd-servers=...}",),
    flags=_OWN,
    examples=(
        CommandExample("migrate --data-dir=data --to-etcd-servers=http://127.0.0.1:2379", "embedded to etcd"),
        CommandExample(
            "migrate --etcd-servers=http://127.0.0.1:2379 --to-data-dir=data",
            "the etcd of a kube-apiserver, or of this server, to an embedded store",
        ),
    ),
)


def run(arguments: Sequence[str]) -> int:
    """Copy and compare. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse(arguments, _OWN)
    command_lines.check_one_source("migrate", line, *command_lines.STORE_FLAGS)
    if line.words or bool(line.text("to-data-dir")) == bool(line.texts("to-etcd-servers")):
        raise UsageError("migrate needs either --to-data-dir or --to-etcd-servers")
    return command_lines.run(lambda: _migrate(line))


async def _migrate(line: CommandLine) -> int:
    target = _target(line)
    opening.check_unused(line.store)
    async with opening.reading(line.store) as source:
        contents = await contents_of(source, line.settings.etcd_prefix)
        if target.etcd is None:
            written = await _load(line, contents, target)
        else:
            written = await _apply(contents, target)
        newest = await contents_of(source, line.settings.etcd_prefix)
        different = await _compared(newest, target, line.settings.etcd_prefix)
    if different:
        return command_lines.failed(
            f"{different} keys differ: the source has changed meanwhile. Stop its servers and run the command again"
        )
    sys.stdout.write(f"{written} keys written; {newest.count} keys are equal on both sides\n")
    return 0


async def _load(line: CommandLine, contents: Contents, target: StorageConfig) -> int:
    """Raises StoreNotEmpty, unless an earlier run has written the same and was interrupted when it compared."""
    assert target.data_dir is not None, "one of both is given"
    try:
        return await _loaded(contents, target.data_dir)
    except StoreNotEmpty:
        if _is_same(line.store, target) or await _compared(contents, target, line.settings.etcd_prefix):
            raise
        return 0


def _is_same(source: StorageConfig, target: StorageConfig) -> bool:
    directories = [config.data_dir.resolve() for config in (source, target) if config.etcd is None and config.data_dir]
    return len(directories) != len(set(directories))


async def _loaded(contents: Contents, directory: Path) -> int:
    with progress("copy", contents.count) as advance:
        return await loading.load(
            directory,
            contents.records(),
            revision=contents.revision,
            lease_seconds=contents.lease_seconds,
            advance=advance,
        )


async def _apply(contents: Contents, target: StorageConfig) -> int:
    async with opening.writing(target) as store:
        with progress("copy", contents.count) as advance:
            done = await applying.apply(contents, store, replace=False, advance=advance)
    return done.written


async def _compared(contents: Contents, target: StorageConfig, prefix: str) -> int:
    """The number of keys that differ."""
    different = 0
    async with _reading(target, prefix) as written:
        with progress("compare", contents.count) as advance:
            async for one in applying.differences(written.records(), contents.records()):
                different += not one.is_equal
                advance()
    return different


@asynccontextmanager
async def _reading(target: StorageConfig, prefix: str) -> AsyncIterator[Contents]:
    async with opening.reading(target) as source:
        yield await contents_of(source, prefix)


def _target(line: CommandLine) -> StorageConfig:
    """The configuration of the store to write, under the same --etcd-prefix."""
    directory = line.text("to-data-dir")
    if directory:
        return replace(line.store, etcd=None, overrides=(), data_dir=Path(directory))
    values = {
        "etcd_servers": line.texts("to-etcd-servers"),
        "etcd_cafile": line.text("to-etcd-cafile") or None,
        "etcd_certfile": line.text("to-etcd-certfile") or None,
        "etcd_keyfile": line.text("to-etcd-keyfile") or None,
        "etcd_prefix": line.settings.etcd_prefix,
        "data_dir": line.settings.data_dir,
    }
    return replace(config_of(Settings.model_validate(values)), compaction_interval=0.0)

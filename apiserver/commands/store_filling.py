"""store_filling: writes a copy into the store of a command line: a restore and a clone end with it.

A data directory without a store gets the records with their revisions. Another store gets what differs, by
compare-and-set and under new revisions.
"""

from pathlib import Path
from typing import Protocol

from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine
from aio_apiserver.apiserver.commands.terminal.progress import progress
from aio_apiserver.storage.errors import StoreNotEmpty
from aio_apiserver.storage.kv.sqlite import loading
from aio_apiserver.storage.transfer import applying, opening
from aio_apiserver.storage.transfer.applying import Copied


class CountedCopy(Copied, Protocol):
    """A copy that knows the number of its keys."""

    @property
    def count(self) -> int: ...


async def fill(wanted: CountedCopy, line: CommandLine, title: str, *, replace: bool) -> str:
    """Write the copy. Returns what was done, in words. Raises StoreNotEmpty, DataDirLocked and other StorageErrors."""
    directory = line.store.data_dir if line.store.etcd is None else None
    try:
        if directory is not None and not replace:
            return await _load(wanted, directory, title)
        return await _apply(wanted, line, title, replace=replace)
    except StoreNotEmpty as exc:
        raise StoreNotEmpty(f"{exc}, or replace its objects with --replace") from exc


async def _load(wanted: CountedCopy, directory: Path, title: str) -> str:
    with progress(title, wanted.count) as advance:
        keys = await loading.load(
            directory,
            wanted.records(),
            revision=wanted.revision,
            lease_seconds=wanted.lease_seconds,
            advance=advance,
        )
    return f"{directory}: {keys} keys, with their resourceVersions, at revision {wanted.revision}"


async def _apply(wanted: CountedCopy, line: CommandLine, title: str, *, replace: bool) -> str:
    if line.store.etcd is None and line.store.data_dir is not None:
        loading.raise_revision(line.store.data_dir, wanted.revision)
    async with opening.writing(line.store) as store:
        with progress(title, wanted.count) as advance:
            done = await applying.apply(wanted, store, replace=replace, advance=advance)
        revision = await store.current_revision()
    return f"{done.written} keys written, {done.deleted} deleted, {done.equal} equal before; revision {revision}"

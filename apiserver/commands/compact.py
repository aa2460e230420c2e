"""Compact: `apiserver compact`, removes the history of a store and gives its space back.

A data directory without a server is compacted by the command; a running server is asked to do it. The members of an
etcd are defragmented as well. Must hold: no object changes. Older resourceVersions are not readable any more.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aio_apiserver.apiserver.commands.terminal import command_lines, output
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.endpoints import compaction
from aio_apiserver.apiserver.outgoing import clusters
from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.storage.errors import Compacted, DataDirLocked
from aio_apiserver.storage.factory.factory import StorageConfig
from aio_apiserver.storage.kv.sqlite import shrinking
from aio_apiserver.storage.kv.sqlite.data_dir import DataDir
from aio_apiserver.storage.kv.sqlite.file_reader import FileReader
from aio_apiserver.storage.kv.sqlite.shrinking import Shrunk
from aio_apiserver.storage.transfer import opening

if TYPE_CHECKING:
    from aio_apiserver.storage.kv.etcd import maintenance
else:
    maintenance = Deferred("aio_apiserver.storage.kv.etcd.maintenance")

_OWN = (output.flag(),)
_HEAD = ("STORE", "REVISION", "BEFORE", "AFTER")
_LOOK_SECONDS = 0.05
MANUAL = CommandManual(
    about="Removes the history of a store, and gives its space back to the file system. A running server of a data "
    "directory does it itself, when the command asks for it. Members of an etcd are defragmented one after the other, "
    "and serve nothing meanwhile; the alarm of a full disk ends.",
    usage=("compact [-o table|yaml|json] [--data-dir=... | --etcd-servers=...]",),
    flags=_OWN,
    examples=(
        CommandExample("compact --data-dir=data", "a data directory, with or without its server"),
        CommandExample("compact --etcd-servers=http://127.0.0.1:2379", "an etcd"),
    ),
)


def run(arguments: Sequence[str]) -> int:
    """Compact the store. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse_flags("compact", arguments, _OWN)
    command_lines.check_one_source("compact", line, *command_lines.STORE_FLAGS)
    form = output.form_of(line)
    return command_lines.run(lambda: _compact(line, form))


async def _compact(line: CommandLine, form: str) -> int:
    opening.check(line.store)
    if line.store.etcd is not None:
        done = await _of_etcd(line.store)
    else:
        assert line.store.data_dir is not None, "checked"
        done = {str(line.store.data_dir): await _of_directory(line, line.store.data_dir, SystemClock())}
    rows = [(store, str(one.revision), _size(one.before), _size(one.after)) for store, one in done.items()]
    documents = [
        {"store": store, "revision": one.revision, "bytesBefore": one.before, "bytesAfter": one.after}
        for store, one in done.items()
    ]
    output.show(form, head=_HEAD, rows=rows, document=lambda: documents)
    return 0


async def _of_directory(line: CommandLine, directory: Path, clock: Clock) -> Shrunk:
    DataDir(directory).check()
    try:
        return shrinking.shrink(directory)
    except DataDirLocked as exc:
        sys.stderr.write(f"{exc}: it is asked to compact\n")
    data_dir = DataDir(directory)
    before = data_dir.size
    async with clusters.opened(clusters.read(line.settings.kubeconfig_file)) as cluster:
        answer = await cluster.request("POST", compaction.PATH)
    reader = FileReader(directory)
    try:
        while reader.is_compacting():
            await clock.sleep(_LOOK_SECONDS)
    finally:
        await reader.close()
    return Shrunk(int(answer["revision"]), before, data_dir.size)


async def _of_etcd(store: StorageConfig) -> dict[str, Shrunk]:
    """The members by URL."""
    assert store.etcd is not None
    members = maintenance.EtcdMembers(store.etcd)
    try:
        async with opening.writing(store) as kv:
            revision = await kv.current_revision()
            try:
                await kv.compact(revision)
            except Compacted:
                sys.stderr.write("the history was compacted before\n")
        before = await members.statuses()
        await members.defragment()
        if await members.disarm_no_space():
            sys.stderr.write("the alarm of a full disk has ended\n")
        after = await members.statuses()
        return {old.url: Shrunk(revision, old.size, new.size) for old, new in zip(before, after, strict=True)}
    finally:
        await members.close()


def _size(count: int) -> str:
    """A size for people.

    >>> _size(3 << 20), _size(100)
    ('3.0 MiB', '0.0 MiB')
    """
    return f"{count / (1 << 20):.1f} MiB"

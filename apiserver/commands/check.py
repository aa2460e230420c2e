"""Check: `apiserver check`, verifies a store: its index, its values, their types, names, uids and owner references.

The servers of the store may run. A backup is verified by its checksum as well, an etcd by the hashes and alarms of its
members. Must hold: the exit code is 1 when there is a problem. Warnings do not change it.
"""

import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aio_apiserver.apiserver.commands.checks import findings, stored_values
from aio_apiserver.apiserver.commands.checks.findings import PROBLEM, StoreFinding
from aio_apiserver.apiserver.commands.checks.object_checks import ObjectChecks
from aio_apiserver.apiserver.commands.checks.stored_values import ValueReader
from aio_apiserver.apiserver.commands.terminal import command_lines, output
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine, list_flag
from aio_apiserver.apiserver.commands.terminal.progress import progress
from aio_apiserver.apiserver.config import manuals
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.machinery import schema
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.factory.factory import StorageConfig
from aio_apiserver.storage.kv.sqlite.file_reader import FileReader
from aio_apiserver.storage.transfer import archive, opening
from aio_apiserver.storage.transfer.contents import Contents, contents_of, directory_of

if TYPE_CHECKING:
    from aio_apiserver.storage.kv.etcd import maintenance
else:
    maintenance = Deferred("aio_apiserver.storage.kv.etcd.maintenance")

_OWN = (list_flag("backup", "A backup and its increments, in place of a store."), output.flag())
_HEAD = ("SEVERITY", "CHECK", "PLACE", "PROBLEM")
MANUAL = CommandManual(
    about="Verifies a store: whether its index and its records agree, and every value can be read and fits its type. "
    "Names, uids and owner references are checked as well. The servers of the store may run.",
    usage=("check [-o table|yaml|json] [--backup FILE,... | --data-dir=... | --etcd-servers=...]",),
    flags=_OWN,
    finding="there is a problem; warnings do not count",
    examples=(
        CommandExample("check --data-dir=data", "a data directory, beside its server"),
        CommandExample("check --backup monday.backup,tuesday.backup", "a backup with its increment"),
        CommandExample("check -o json --etcd-servers=http://127.0.0.1:2379", "an etcd, for a program"),
    ),
)


def run(arguments: Sequence[str]) -> int:
    """Verify the store. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse_flags("check", arguments, _OWN)
    command_lines.check_one_source("check", line, "backup", *command_lines.STORE_FLAGS)
    form = output.form_of(line)
    return command_lines.run(lambda: _check(line, form))


async def _check(line: CommandLine, form: str) -> int:
    checks = ObjectChecks(schema.builtin(line.settings.minor.text))
    async with AsyncExitStack() as stack:
        found = [] if line.texts("backup") else await _of_store(line.store)
        contents = await _contents(line, stack)
        reader = ValueReader(directory_of(line.settings.etcd_prefix), await stored_values.transformers(line, stack))
        try:
            found += await _of_objects(contents, reader, checks)
        except StorageError as exc:
            if not found:
                raise
            found.append(_index("", str(exc)))  # what is wrong with the index is the reason
    _show(form, found, checks.count)
    return manuals.FAILURE if findings.has_problem(one.severity for one in found) else manuals.SUCCESS


async def _of_objects(
    contents: "Contents | archive.Restorable", reader: ValueReader, checks: ObjectChecks
) -> Sequence[StoreFinding]:
    found: list[StoreFinding] = []
    with progress("check", contents.count) as advance:
        async for record in contents.records():
            value = await reader.read(record)
            found += checks.look(value) if value is not None else ()
            advance()
    return [*found, *checks.end()]


async def _contents(line: CommandLine, stack: AsyncExitStack) -> "Contents | archive.Restorable":
    if files := line.texts("backup"):
        return archive.restorable(*map(Path, files))
    source = await stack.enter_async_context(opening.reading(line.store))
    return await contents_of(source, line.settings.etcd_prefix)


async def _of_store(store: StorageConfig) -> list[StoreFinding]:
    """The faults below the objects. Raises Corrupt for a file that cannot be read at all."""
    opening.check(store)
    if store.etcd is not None:
        return [finding async for finding in _of_etcd(store)]
    assert store.data_dir is not None, "checked"
    reader = FileReader(store.data_dir)
    try:
        return [_index(one.key.decode(errors="backslashreplace"), one.problem) for one in reader.faults()]
    finally:
        await reader.close()


async def _of_etcd(store: StorageConfig) -> AsyncIterator[StoreFinding]:
    assert store.etcd is not None
    members = maintenance.EtcdMembers(store.etcd)
    try:
        statuses = await members.statuses()
        for one in statuses:
            for problem in filter(None, (one.problem, *one.alarms)):
                yield _index(one.url, problem)
        answering = [one.revision for one in statuses if not one.problem]
        if len(answering) < len(statuses) or not answering:
            return
        hashes = await members.hashes(min(answering))
        for member in hashes:
            alike = {other.hash for other in hashes if other.compact_revision == member.compact_revision}
            if len(alike) > 1:
                yield _index(member.url, f"its keys have the hash {member.hash:08x}, which is not that of all members")
    finally:
        await members.close()


def _index(place: str, problem: str) -> StoreFinding:
    return StoreFinding(PROBLEM, "index", place, problem)


def _show(form: str, found: Iterable[StoreFinding], count: int) -> None:
    rows = [one.row for one in found]
    if rows or form != "table":
        document = {"objects": count, "findings": [msgspec.to_builtins(one) for one in found]}
        output.show(form, head=_HEAD, rows=rows, document=lambda: document)
    if form == "table":
        sys.stdout.write(f"{count} objects checked, {sum(row[0] == PROBLEM for row in rows)} problems\n")

"""Restore: `apiserver restore FILE...`, makes a store from a backup and its increments.

A data directory without a store gets the objects with their revisions. Another store gets what differs by
compare-and-set, under new revisions. Must hold: no resourceVersion goes back, and nothing is written before the
checksums of all files are verified.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from aio_apiserver.apiserver.commands import store_filling
from aio_apiserver.apiserver.commands.terminal import command_lines
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine, switch
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.storage.transfer import archive, opening
from aio_apiserver.storage.transfer.archive_frames import BrokenArchive
from aio_apiserver.storage.transfer.contents import directory_of

_OWN = (switch("replace", "Replace the objects of a store that has some already."),)
MANUAL = CommandManual(
    about="Makes a store from a backup. With an incremental backup, name the full one first, then the increments in "
    "order. Stop the servers of the store first.",
    usage=("restore FILE [INCREMENT ...] [--replace] [--data-dir=... | --etcd-servers=...]",),
    flags=_OWN,
    examples=(
        CommandExample("restore monday.backup tuesday.backup --data-dir=new", "a new data directory"),
        CommandExample("restore monday.backup --replace --data-dir=data", "replace the objects of a store"),
    ),
)


def run(arguments: Sequence[str]) -> int:
    """Restore. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse(arguments, _OWN)
    command_lines.check_one_source("restore", line, *command_lines.STORE_FLAGS)
    if not line.words:
        raise UsageError("restore needs the name of a backup")
    return command_lines.run(lambda: _restore(line))


async def _restore(line: CommandLine) -> int:
    opening.check(line.store)
    wanted = archive.restorable(*map(Path, line.words))
    if wanted.prefix != directory_of(line.settings.etcd_prefix):
        raise BrokenArchive(f"the backup is of --etcd-prefix={wanted.prefix.decode()}")
    sys.stdout.write(f"{await store_filling.fill(wanted, line, 'restore', replace=line.is_set('replace'))}\n")
    return 0

"""Backup: `apiserver backup FILE`, all objects of a store at one revision, in one compressed and verified file.

The servers of the store may run. A store on disk is read beside its server, an etcd through its API.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from aio_apiserver.apiserver.commands.terminal import command_lines
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine, text_flag
from aio_apiserver.apiserver.commands.terminal.progress import progress
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.storage.transfer import archive, opening
from aio_apiserver.storage.transfer.archive_frames import BrokenArchive
from aio_apiserver.storage.transfer.contents import contents_of

_OWN = (text_flag("since", "An earlier backup: the new one holds what has changed since, and is restored after it."),)
MANUAL = CommandManual(
    about="Writes all objects of a store to a file, at one revision, compressed and verified. The servers of the store "
    "may run. The file holds Secrets as they are stored: keep it as safe as the store.",
    usage=("backup FILE [--since EARLIER] [--data-dir=... | --etcd-servers=...]",),
    flags=_OWN,
    examples=(
        CommandExample("backup monday.backup --data-dir=data", "all objects of a data directory, beside its server"),
        CommandExample("backup tuesday.backup --since monday.backup --data-dir=data", "what has changed since monday"),
        CommandExample("backup etcd.backup --etcd-servers=http://127.0.0.1:2379", "all objects of an etcd"),
    ),
)


def run(arguments: Sequence[str]) -> int:
    """Write the file. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse(arguments, _OWN)
    command_lines.check_one_source("backup", line, *command_lines.STORE_FLAGS)
    if len(line.words) != 1:
        raise UsageError("backup needs the name of one file")
    return command_lines.run(lambda: _backup(line))


async def _backup(line: CommandLine) -> int:
    path, since = Path(line.words[0]), line.text("since")
    base = archive.opened(Path(since)) if since else None
    async with opening.reading(line.store) as source:
        contents = await contents_of(source, line.settings.etcd_prefix)
        if base is not None and not base.is_earlier(contents):
            raise BrokenArchive(f"{since}: it is no earlier backup of this store")
        with progress("backup", contents.count) as advance:
            keys = await archive.write(
                contents, path, base=base.head.revision if base else 0, now=SystemClock().now(), advance=advance
            )
    sys.stdout.write(f"{path}: {keys} keys at revision {contents.revision}, verified\n")
    return 0

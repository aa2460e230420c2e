"""report: `apiserver report`, what happened lately on the server of this machine, as one HTML file.

It asks the running server, as the administrator of the kubeconfig that the server has written. The server needs --ui.
Must hold: the exit code is 1 when there is no report, and the command makes no other file.
"""

import asyncio
import sys
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

from aio_apiserver.apiserver.commands.terminal import command_lines
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.console.report_endpoint import REPORT
from aio_apiserver.apiserver.outgoing import clusters
from aio_apiserver.apiserver.outgoing.clusters import ClusterFailed
from aio_apiserver.base import private_files

_OWN = (
    command_lines.text_flag(
        "user", "The user whose changed objects come first. Without it, those of the administrator do."
    ),
)

MANUAL = CommandManual(
    about="Writes what happened lately on the server of this machine to one HTML file: the timeline, the objects that "
    "changed, and what stands out. The server needs --ui.",
    usage=("report FILE [--user=NAME] [--data-dir=...]",),
    flags=_OWN,
    finding="there is no report",
    examples=(
        CommandExample("report today.html --data-dir=data", "the last minutes"),
        CommandExample("report jane.html --user=jane", "the objects that jane has changed come first"),
    ),
)


def run(arguments: Sequence[str]) -> int:
    """Write the report. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse(arguments, _OWN)
    if len(line.words) != 1:
        raise UsageError("report takes the name of the file to write")
    return command_lines.run(lambda: _report(line.settings.kubeconfig_file, Path(line.words[0]), line.text("user")))


async def _report(kubeconfig: Path, file: Path, user: str) -> int:
    path = f"{REPORT}?{urlencode({'user': user})}" if user else REPORT
    async with clusters.opened(clusters.read(kubeconfig)) as cluster:
        try:
            async with cluster.answer("GET", path) as answer:
                page = await answer.read()
        except ClusterFailed as exc:
            if exc.status != HTTPStatus.NOT_FOUND:
                raise
            raise ClusterFailed(f"no report: {cluster.url} runs without --ui", exc.status) from exc
    await asyncio.to_thread(_write, file, page)
    sys.stdout.write(f"{file}\n")
    return 0


def _write(file: Path, page: bytes) -> None:
    """Write the file, into a folder that exists and keeps its mode."""
    with private_files.replacing(file) as out:
        out.write(page)

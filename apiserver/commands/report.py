"""report: `apiserver report`, what happened lately on the server of this machine, as one HTML file.

It asks the running server, as the administrator whose token is in --cert-dir. The server needs --ui. Must hold: the
exit code is 1 when there is no report.
"""

import sys
from collections.abc import Sequence
from http.client import HTTPException, HTTPSConnection
from pathlib import Path

from aio_apiserver.apiserver.commands import command_lines
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.console.report_endpoint import REPORT
from aio_apiserver.apiserver.tls import bundles, certificates, contexts

_SECONDS = 30.0
MANUAL = CommandManual(
    about="Writes what happened lately on the server of this machine to one HTML file: the timeline, the objects that "
    "changed, and what stands out. The server needs --ui.",
    usage=("report FILE [--data-dir=...] [--secure-port=6443] [--bind-address=...]",),
    finding="there is no report",
    examples=(CommandExample("report today.html --data-dir=data", "the last minutes"),),
)


def run(arguments: Sequence[str]) -> int:
    """Write the report. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse(arguments, ())
    if len(line.words) != 1:
        raise UsageError("report takes the name of the file to write, before its flags")
    directory = line.settings.pki_dir
    try:
        token = certificates.own_token(directory)
        tls = bundles.trusting(certificates.authority(directory).read_text())
        host, port = contexts.local_address(line.settings), line.settings.secure_port
        connection = HTTPSConnection(host.strip("[]"), port, timeout=_SECONDS, context=tls)
        connection.request("GET", REPORT, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        page = answer.read()
        connection.close()
    except (OSError, HTTPException) as exc:
        return command_lines.failed(f"no report: {exc}")
    if answer.status != 200:
        why = "it runs without --ui" if answer.status == 404 else page.decode(errors="replace")
        return command_lines.failed(f"no report: the server answers {answer.status}: {why}")
    Path(line.words[0]).write_bytes(page)
    sys.stdout.write(f"{line.words[0]}\n")
    return 0

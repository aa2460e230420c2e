"""Healthcheck: `apiserver healthcheck`, asks the server of this machine whether it is ready. For containers and units.

It takes the flags of serving that name the port and the address. It sends no credentials, so it accepts any
certificate. Must hold: the exit code is 0 for a ready server, and 1 for any other.
"""

import os
import sys
from collections.abc import Sequence
from http import HTTPStatus
from http.client import HTTPException, HTTPSConnection

from aio_apiserver.apiserver.commands.terminal import command_lines
from aio_apiserver.apiserver.commands.terminal.command_lines import text_flag
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.tls import contexts

_SECONDS = 3.0
FLAGS = (text_flag("path", "The path to ask: /readyz, /livez or one check of them.", "/readyz"),)
MANUAL = CommandManual(
    about="Asks the server of this machine whether it is ready, without credentials and with any certificate. For "
    "containers and units.",
    usage=("healthcheck [--secure-port=6443] [--bind-address=...] [--path=/readyz]",),
    flags=FLAGS,
    finding="the server is not ready",
    examples=(
        CommandExample("healthcheck", "whether the server on port 6443 is ready"),
        CommandExample("healthcheck --secure-port=7443 --path=/livez", "whether another one is alive"),
    ),
)


def run(arguments: Sequence[str]) -> int:
    """Ask the server. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse_flags("healthcheck", arguments, FLAGS)
    host, port = contexts.local_address(line.settings), line.settings.secure_port
    try:
        status, text = _response(line.settings, f"/{line.text('path').removeprefix('/')}")
    except (OSError, HTTPException) as exc:
        return command_lines.failed(f"no answer from {host}:{port}: {_words(exc)} (--bind-address, --secure-port)")
    if status != HTTPStatus.OK:
        return command_lines.failed(f"{host}:{port} answers {status}: {text}")
    sys.stdout.write(f"{text}\n")
    return 0


def is_alive(settings: Settings) -> bool:
    """Whether a server answers on the secure port."""
    try:
        return _response(settings, "/livez") == (HTTPStatus.OK, "ok")
    except (OSError, HTTPException):
        return False


def _response(settings: Settings, path: str) -> tuple[int, str]:
    """The status and the text of an answer. Raises OSError, HTTPException."""
    host, port = contexts.local_address(settings).strip("[]"), settings.secure_port
    connection = HTTPSConnection(host, port, timeout=_SECONDS, context=contexts.without_verification())
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    finally:
        connection.close()


def _words(failure: Exception) -> str:
    return os.strerror(failure.errno) if isinstance(failure, OSError) and failure.errno else str(failure)

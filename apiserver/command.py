"""Command: what one command line does: print help or the version, check the flags, or run the server."""

import logging
import shutil
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from aio_apiserver.apiserver.config import command_line, flag_grammar, logs, suggestions, usage
from aio_apiserver.apiserver.config.flag_grammar import Parsed, UsageError
from aio_apiserver.apiserver.config.flags.unused_flags import UNUSED
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.process import import_tuning, start_errors
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS
from aio_apiserver.registry.base.deferred import Deferred

if TYPE_CHECKING:
    from aio_apiserver.apiserver.workers import launching
    from aio_apiserver.apiserver.workers.slots import WorkerSlot
else:
    launching = Deferred("aio_apiserver.apiserver.workers.launching")

logger = logging.getLogger(__name__)

DISTRIBUTION = "aio-apiserver"
"""The name of this program in Python's package index."""

_SHARED_LIMITS = (
    "max_requests_inflight",
    "max_mutating_requests_inflight",
    "max_connections",
    "max_connections_per_address",
    "max_connections_per_user",
)
"""The limits of a server that are divided among its workers."""


def run(arguments: Sequence[str]) -> int:
    """Run the command of these arguments. Returns the exit code."""
    try:
        if arguments and arguments[0] in SUBCOMMANDS:
            return SUBCOMMANDS[arguments[0]].run(arguments[1:])
        parsed = _parsed(arguments)
        if parsed.wants_help:
            sys.stdout.write(usage.help_text(_columns()))
            return 0
        chosen = command_line.settings_of(parsed)
        if parsed.version:
            sys.stdout.write(_versions(chosen))
            return 0
    except UsageError as exc:
        sys.stderr.write(f"Error: {exc}{_suggested(arguments)}\nSee 'apiserver {_help_of(arguments)}' for usage.\n")
        return 2
    logs.configure(chosen.logging_format, chosen.v, vmodule=chosen.vmodule)
    for name in parsed.ignored:
        logger.warning("flag --%s is ignored: it has no effect on this server", name)
    return _serve(chosen) if chosen.workers == 1 else _supervise(chosen, arguments)


def _suggested(arguments: Sequence[str]) -> str:
    """The end of an error message about an unknown command: the commands that resemble it."""
    word = arguments[0] if arguments else "-"
    return "" if word.startswith("-") or word in SUBCOMMANDS else suggestions.did_you_mean(word, SUBCOMMANDS)


def _help_of(arguments: Sequence[str]) -> str:
    """The arguments that print the usage of what a command line wants."""
    command = arguments[0] if arguments else ""
    return "help" if command == "help" else f"help {command}" if command in SUBCOMMANDS else "--help"


def _versions(settings: Settings) -> str:
    """The line of kube-apiserver, which programs read. The program says its own version below, except by that name."""
    line = f"Kubernetes {settings.minor.git_version}\n"
    if Path(sys.argv[0]).name == "kube-apiserver":
        return line
    return f"{line}{DISTRIBUTION} {metadata.version(DISTRIBUTION)}\n"


def _supervise(settings: Settings, arguments: Sequence[str]) -> int:
    try:
        launching.become_supervisor(settings, arguments)
    except OSError as exc:
        logger.error("cannot start: %s", start_errors.explain(exc, settings))
        return 1


def serve_in(slot: "WorkerSlot", arguments: Sequence[str]) -> int:
    """Run one of several workers with the arguments that the supervisor was given. Returns the exit code."""
    chosen = command_line.settings_of(_parsed(arguments))
    logs.configure(chosen.logging_format, chosen.v, vmodule=chosen.vmodule, lock=slot.log_lock)
    limits = {name: slot.share(getattr(chosen, name)) for name in _SHARED_LIMITS}
    return _serve(chosen.model_copy(update=limits), slot)


def _parsed(arguments: Sequence[str]) -> Parsed:
    return flag_grammar.parse(arguments, command_line.flags(), UNUSED)


def _serve(settings: Settings, slot: "WorkerSlot | None" = None) -> int:
    with import_tuning.without_system_authorities():
        from aio_apiserver.apiserver import program  # loads HTTP and storage, which --help does without

    return program.run(settings, slot)


def _columns() -> int:
    return shutil.get_terminal_size((0, 0)).columns if sys.stdout.isatty() else 0

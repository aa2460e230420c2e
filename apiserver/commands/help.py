"""Help: `apiserver help [COMMAND]`, the list of commands, or the help of one; with --man the man page."""

import sys
from collections.abc import Sequence

from aio_apiserver.apiserver.commands import man_page
from aio_apiserver.apiserver.commands.terminal import command_lines
from aio_apiserver.apiserver.commands.terminal.command_lines import switch
from aio_apiserver.apiserver.config import manuals
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS

_OWN = (switch("man", "Print the man page, for man -l -."),)
MANUAL = CommandManual(
    about="Lists the commands, or explains one. Without a command, apiserver serves the Kubernetes API: apiserver "
    "--help lists its flags.",
    usage=("help [COMMAND]", "help --man"),
    flags=_OWN,
    examples=(
        CommandExample("help backup", "the arguments and flags of a command, with examples"),
        CommandExample("help --man", "the man page; pip installs it, too"),
    ),
)
_USAGE = """\
Without a command, apiserver serves the Kubernetes API: apiserver --help lists its flags.

Usage:
  apiserver [flags]
  apiserver COMMAND [arguments] [flags]

Commands:
"""


def run(arguments: Sequence[str]) -> int:
    """Print the help. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse(arguments, _OWN)
    if line.is_set("man"):
        sys.stdout.write(man_page.text())
        return 0
    if not line.words:
        sys.stdout.write(_list())
        return 0
    name = " ".join(line.words)
    if name not in SUBCOMMANDS:
        raise UsageError(f"help: there is no command {name!r}")
    sys.stdout.write(manuals.help_text(SUBCOMMANDS[name].manual))
    return 0


def _list() -> str:
    width = max(map(len, SUBCOMMANDS))
    lines = [f"  {name.ljust(width)}  {command.text}\n" for name, command in SUBCOMMANDS.items()]
    codes = [f"  {code:<4} {meaning}\n" for code, meaning in manuals.EXIT_CODES.items()]
    return _USAGE + "".join(lines) + "\nExit codes:\n" + "".join(codes)

"""Help: `apiserver help [COMMAND]`, the list of commands, or the help of one."""

import sys
from collections.abc import Sequence

from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS

_USAGE = """\
Without a command, apiserver serves the Kubernetes API: apiserver --help lists its flags.

Usage:
  apiserver [flags]
  apiserver COMMAND [arguments] [flags]

Commands:
"""
_CODES = "\nExit codes: 0 for success, 1 for a failure, 2 for invalid arguments.\n"


def run(arguments: Sequence[str]) -> int:
    """Print the help. Returns the exit code. Raises UsageError."""
    if not arguments or arguments[0].startswith("-"):
        width = max(map(len, SUBCOMMANDS))
        lines = [f"  {name.ljust(width)}  {command.text}\n" for name, command in SUBCOMMANDS.items()]
        sys.stdout.write(_USAGE + "".join(lines) + _CODES)
        return 0
    name = arguments[0]
    if name not in SUBCOMMANDS:
        raise UsageError(f"help: there is no command {name!r}")
    return SUBCOMMANDS[name].run(["--help"])

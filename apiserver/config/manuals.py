"""Manuals: what a command says of itself, as data. Help, completion, the man page and the documentation are made of it.

Pure. Must hold: every command has a manual with an example, and every exit code of the program is in one table.
"""

import textwrap
from collections.abc import Mapping, Sequence

from msgspec import Struct

from aio_apiserver.apiserver.config.flag_grammar import Flag

SUCCESS, FAILURE, WRONG_USAGE = 0, 1, 2
EXIT_CODES: Mapping[int, str] = {
    SUCCESS: "Success. A server has stopped after SIGTERM or SIGINT.",
    FAILURE: "A failure: the message on stderr names its cause. A command that looks for problems has found one.",
    WRONG_USAGE: "Invalid arguments.",
    130: "Ctrl-C has ended a command; a shell reports it so.",
    143: "SIGTERM has ended a command; a shell reports it so.",
}
"""The exit codes of the program."""

_COLUMNS = 100


class CommandExample(Struct, frozen=True):
    """A command line, and what it does."""

    line: str
    effect: str


class CommandManual(Struct, frozen=True, kw_only=True):
    """The manual of a command.

    usage: command lines behind the name of the program. flags: the command's own. finding: what the exit code 1 means
    beside a failure.
    """

    about: str
    usage: Sequence[str]
    examples: Sequence[CommandExample]
    flags: Sequence[Flag] = ()
    finding: str = ""


def help_text(manual: CommandManual) -> str:
    """The manual as text for a terminal."""
    parts = [textwrap.fill(manual.about, _COLUMNS)]
    if manual.finding:
        parts.append(textwrap.fill(f"The exit code is 1 when {manual.finding}.", _COLUMNS))
    parts.append("\n".join(["Usage:", *(f"  apiserver {line}" for line in manual.usage)]))
    parts.append("\n".join(["Examples:", *(f"  # {one.effect}\n  apiserver {one.line}" for one in manual.examples)]))
    if manual.flags:
        width = max(len(flag.name) for flag in manual.flags)
        lines = [f"  --{flag.name.ljust(width)}  {described(flag)}" for flag in manual.flags]
        parts.append("\n".join(["Flags, beside those of the server:", *lines]))
    return "\n\n".join(parts) + "\n"


def described(flag: Flag) -> str:
    """The help of a flag, with its short form and its default."""
    short = f" Short: -{flag.shorthand}." if flag.shorthand else ""
    default = f" Default: {flag.default}." if flag.default else ""
    return f"{flag.help}{short}{default}"

"""Reference: docs/reference/commands.md, made from the tables of commands and exit codes.

    python -m aio_apiserver.apiserver.commands.reference > docs/reference/commands.md

Pure.
"""

import sys
import textwrap
from collections.abc import Iterator

from aio_apiserver.apiserver.config import manuals
from aio_apiserver.apiserver.config.manuals import CommandManual
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS

_HEAD = """\
# Commands

`apiserver` without a command serves. All commands take the flags of the server that name a store, a port or a folder
([flags](../flags.md)). Words and flags come in any order. Progress and colours are shown on a terminal.

`apiserver help COMMAND` prints what this page says of a command. `man apiserver` has all of it: pip installs the page
into `share/man/man1`. [Back up, restore, move](../how-to/backup.md) explains the commands for stores.
"""


def markdown() -> str:
    """The text of the page."""
    rows = "".join(f"| [`{name}`](#{name}) | {one.text} |\n" for name, one in SUBCOMMANDS.items())
    codes = "".join(f"| {code} | {meaning} |\n" for code, meaning in manuals.EXIT_CODES.items())
    parts = [
        _HEAD,
        f"| command | what it does |\n| --- | --- |\n{rows}",
        f"## Exit codes\n\n| exit code | meaning |\n| --- | --- |\n{codes}",
        *("\n".join(_section(name, one.manual)) for name, one in SUBCOMMANDS.items()),
    ]
    return "\n".join(parts)


def _section(name: str, manual: CommandManual) -> Iterator[str]:
    yield f"## {name}\n"
    yield from ("```", *(f"apiserver {line}" for line in manual.usage), "```\n")
    yield f"{textwrap.fill(manual.about, 120, break_long_words=False, break_on_hyphens=False)}\n"
    if manual.finding:
        yield f"The exit code is 1 when {manual.finding}.\n"
    if manual.flags:
        yield from ("| flag | meaning |", "| --- | --- |")
        yield from (f"| `--{flag.name}` | {manuals.described(flag).replace('|', '&#124;')} |" for flag in manual.flags)
        yield ""
    yield "```sh"
    for example in manual.examples:
        yield from (f"# {example.effect}", f"apiserver {example.line}")
    yield "```\n"


if __name__ == "__main__":
    sys.stdout.write(markdown())

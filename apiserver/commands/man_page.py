r"""man_page: the man page apiserver(1), made from the tables of commands, flags and exit codes.

    python -m aio_apiserver.apiserver.commands.man_page > docs/apiserver.1

Pure. Must hold: it has every command, every flag of the server and every exit code. A line of text does not begin with
a dot or an apostrophe, which troff would read as a request.
"""

import sys
from collections.abc import Iterable, Iterator

from aio_apiserver.apiserver.config import manuals, usage
from aio_apiserver.apiserver.config.flag_grammar import Flag
from aio_apiserver.apiserver.config.flags.flag_types import FlagType
from aio_apiserver.apiserver.config.manuals import CommandManual
from aio_apiserver.apiserver.config.settings import ENVIRONMENT
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS

_ABOUT = (
    "apiserver serves the Kubernetes API. Without flags, it keeps its objects in an embedded store below "
    "$XDG_DATA_HOME/aio-apiserver, and writes a kubeconfig file beside it. With --etcd-servers, several servers share "
    "one etcd. It takes the flags of kube-apiserver."
)


def text() -> str:
    """The man page."""
    lines = [
        '.TH APISERVER 1 "" "aio-apiserver" "User Commands"',
        ".ad l",
        ".SH NAME",
        "apiserver, kube\\-apiserver \\- the Kubernetes API server in Python",
        ".SH SYNOPSIS",
        ".B apiserver",
        "[flags]",
        ".br",
        ".B apiserver",
        "COMMAND [arguments] [flags]",
        ".SH DESCRIPTION",
        _escaped(_ABOUT),
        ".SH COMMANDS",
        *(line for name, command in SUBCOMMANDS.items() for line in _command(name, command.manual)),
        *(line for group, flags in usage.grouped() for line in _group(f"{group} flags", flags)),
        ".SH EXIT STATUS",
        *(line for code, meaning in manuals.EXIT_CODES.items() for line in _item(str(code), meaning)),
        ".SH ENVIRONMENT",
        *(line for name, meaning in ENVIRONMENT.items() for line in _item(name, meaning)),
        ".SH SEE ALSO",
        ".BR kubectl (1)",
    ]
    return "\n".join(lines) + "\n"


def _command(name: str, manual: CommandManual) -> Iterator[str]:
    yield f".SS {_escaped(name)}"
    for line in manual.usage:
        yield f".B apiserver {_escaped(line)}"
        yield ".br"
    yield _escaped(manual.about)
    if manual.finding:
        yield _escaped(f"The exit code is 1 when {manual.finding}.")
    for flag in manual.flags:
        yield from _flag(flag)
    yield ".PP"
    yield "Examples:"
    for example in manual.examples:
        yield from (".PP", ".nf", f"    # {_escaped(example.effect)}", f"    apiserver {_escaped(example.line)}", ".fi")


def _group(title: str, flags: Iterable[Flag]) -> Iterator[str]:
    yield f".SH {_escaped(title.upper())}"
    for flag in flags:
        yield from _flag(flag)


def _flag(flag: Flag) -> Iterator[str]:
    short = f"-{flag.shorthand}, " if flag.shorthand else ""
    kind = "" if flag.kind is FlagType.BOOL else f" {flag.kind.value}"
    default = f" Default: {flag.default}." if flag.default else ""
    yield from _item(f"{short}--{flag.name}{kind}", f"{flag.help}{default}")


def _item(term: str, meaning: str) -> Iterator[str]:
    yield from (".TP", f".B {_escaped(term)}", _escaped(meaning))


def _escaped(words: str) -> str:
    """A text of one line for troff."""
    plain = words.replace("\\", "\\e").replace("-", "\\-").replace("\n", " ")
    return f"\\&{plain}" if plain[:1] in (".", "'") else plain


if __name__ == "__main__":
    sys.stdout.write(text())

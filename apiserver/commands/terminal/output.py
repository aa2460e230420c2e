"""Output: results of commands as a table, YAML or JSON. Colours are for a terminal alone. It knows rich.

Must hold: output that goes to a file or a pipe has no colours, and neither has any with NO_COLOR.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from rich.console import Console
from rich.text import Text

from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine, text_flag
from aio_apiserver.apiserver.config.flag_grammar import Flag, UsageError
from aio_apiserver.registry.machinery.serializers import yaml

Row = Sequence[str]
_FORMS = ("table", "yaml", "json")
_COLOURS: Mapping[str, str] = {"ok": "green", "warning": "yellow", "problem": "red"}
"""The colours of cells with these texts."""


def flag(forms: Sequence[str] = _FORMS) -> Flag:
    """The flag --output. The first form is the default."""
    return text_flag("output", f"One of {', '.join(forms)}.", forms[0], short="o")


def form_of(line: CommandLine, forms: Sequence[str] = _FORMS) -> str:
    """The value of --output. Raises UsageError."""
    return checked(line.text("output"), forms)


def checked(form: str, forms: Sequence[str] = _FORMS) -> str:
    """A value of --output. Raises UsageError."""
    if form not in forms:
        raise UsageError(f"--output is one of {', '.join(forms)}, got {form!r}")
    return form


def show(form: str, *, head: Row, rows: Sequence[Row], document: Callable[[], Any]) -> None:
    """Print a result: the rows, or the document that says the same to programs."""
    if form == "table":
        table(head, rows)
    else:
        sys.stdout.write(text_of(form, document()))


def table(head: Row, rows: Sequence[Row]) -> None:
    """Print a table whose last column has any width."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    widths[-1] = 0
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for row in (head, *rows):
        padded = [Text(cell.ljust(width), _COLOURS.get(cell, "")) for cell, width in zip(row, widths, strict=True)]
        text = Text("  ").join(padded)
        text.rstrip()
        console.print(text)


def text_of(form: str, document: Any) -> str:
    """A document as YAML or JSON."""
    if form == "yaml":
        return yaml.dump(document).decode()
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"

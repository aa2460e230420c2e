"""Transcripts: what a page tells its reader to type, in order, and what it says kubectl or the server prints.

A page shows three things that a reader acts on:

- a file, as `pages` finds it: a bold name and a fenced block;
- commands: a block that is indented by four spaces, or fenced as `sh`;
- the output of the last command: a block that is fenced as `text` right behind the commands.

In an output, a line `...` stands for any lines. Ages, addresses, and the random ends of names may differ.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_PART = re.compile(
    r"^\*\*(?P<name>[\w./-]+\.\w+)\*\*\n\n```\w+\n(?P<content>.*?)^```$"
    r"|^```(?P<language>\w*)\n(?P<fenced>.*?)^```$"
    r"|(?P<indented>(?:^    [^\n]*\n|^\n(?=    ))+)",
    re.MULTILINE | re.DOTALL,
)
_SHELL = {"sh", "bash"}

_VARYING = (
    (re.compile(r"-[a-z0-9]{8,10}-[a-z0-9]{5}\b"), "-<random>"),
    (re.compile(r"\b(web|pod/web|replicaset\.apps/web)-[a-z0-9]{5,10}\b"), r"\1-<random>"),
    (re.compile(r"\b\d+\.\d+\.\d+\.\d+\b"), "<address>"),
    (re.compile(r"\(\d+[smh] ago\)"), "(<age> ago)"),
    (re.compile(r"\b\d+(?:s|m|h|d)\b"), "<age>"),
    (re.compile(r"[ \t]+"), " "),
)


@dataclass(frozen=True)
class ShownFile:
    """A file that the reader makes."""

    name: str
    content: str


@dataclass(frozen=True)
class Typed:
    """A command that the reader types, and the output that the page shows behind it."""

    command: str
    output: str | None = None


def steps(page: Path) -> Sequence[ShownFile | Typed]:
    """What a reader does who follows a page from its first line to its last."""
    made: list[ShownFile | Typed] = []
    for part in _PART.finditer(page.read_text()):
        if part["name"]:
            made.append(ShownFile(part["name"], part["content"]))
        elif part["language"] == "text":
            made[-1] = Typed(_last_command(made), part["fenced"])
        elif part["indented"] or part["language"] in _SHELL:
            made += map(Typed, commands(_unindented(part)))
    return made


def _last_command(made: Sequence[ShownFile | Typed]) -> str:
    last = made[-1] if made else None
    assert isinstance(last, Typed), "an output stands behind a command"
    return last.command


def _unindented(part: re.Match[str]) -> str:
    if part["indented"]:
        return "\n".join(line[4:] for line in part["indented"].splitlines())
    return part["fenced"]


def commands(block: str) -> Iterator[str]:
    """The commands of a block: a line each, but for lines that end with a backslash."""
    for command in re.split(r"(?<!\\)\n", block):
        if (typed := _without_comment(command)).strip():
            yield typed


def _without_comment(command: str) -> str:
    return re.sub(r"(^|\s{2,})#\s.*$", "", command).rstrip()


def agrees(shown: str, printed: str) -> bool:
    """Whether a command printed what its page shows."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in _constant(shown).splitlines()
    )
    return re.fullmatch(pattern, _constant(printed) + "\n") is not None


def _constant(output: str) -> str:
    """An output in which everything that differs from run to run has one spelling."""
    lines = (line.strip() for line in output.strip().splitlines())
    text = "\n".join(line for line in lines if line)
    for pattern, spelling in _VARYING:
        text = pattern.sub(spelling, text)
    return text

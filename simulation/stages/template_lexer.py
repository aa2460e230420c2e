"""Template lexer: Go's templates as pieces of text and actions, and the tokens of an action.

Pure.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from aio_apiserver.simulation.stages.unsupported import Unsupported

_ACTION = re.compile(
    r"""\{\{(?P<before>-\s)?
    (?P<inside>(?>/\*.*?\*/)|(?>"(?:[^"\\\n]|\\.)*"|`[^`]*`|(?!\}\})[^"`])*?)
    (?P<after>\s-)?\}\}""",
    re.DOTALL | re.VERBOSE,
)
"""Every part begins with another character and a comment is not read twice, so that matching takes linear time."""
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<comment>/\*.*?\*/)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
    |(?P<number>[-+]?\d+(?:\.\d+)?)
    |(?P<field>(?:\.[A-Za-z_]\w*)+)
    |(?P<dot>\.)
    |(?P<variable>\$\w*(?:\.[A-Za-z_]\w*)*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<declare>:=)
    |(?P<mark>[=|(),])
    )""",
    re.VERBOSE | re.DOTALL,
)
_SHOWN = 60
"""The characters of a wrong action that a message shows."""


class TemplateToken(Struct, frozen=True):
    """A word of an action. kind: the name of its group in the pattern. is_joined: no blank is before it."""

    kind: str
    text: str
    is_joined: bool = False


class Action(Struct, frozen=True):
    """What stands between two braces."""

    source: str
    tokens: tuple[TemplateToken, ...]


def pieces(source: str) -> Iterator[str | Action]:
    """The texts and actions of a template, with the blanks trimmed that its marks trim. Raises Unsupported."""
    position, is_trimming = 0, False
    while (start := source.find("{{", position)) >= 0:
        found = _ACTION.match(source, start)
        if found is None:
            raise Unsupported(f"the action {source[start : start + _SHOWN]!r}, which does not end")
        text = source[position:start]
        text = text.lstrip() if is_trimming else text
        yield text.rstrip() if found["before"] else text
        yield Action(found["inside"].strip(), tuple(_tokens(found["inside"])))
        position, is_trimming = found.end(), found["after"] is not None
    rest = source[position:]
    yield rest.lstrip() if is_trimming else rest


def _tokens(inside: str) -> Iterator[TemplateToken]:
    text = inside.strip()
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise Unsupported(f"the action {text!r} at {text[position:]!r}")
        kind = str(found.lastgroup)
        if kind != "comment":
            yield TemplateToken(kind, found[kind], found.start(kind) == position)
        position = found.end()

"""Long chains: sums and joined texts of many parts, which the parser would take for deep nesting.

It descends once for each `+` or `-` and gives up after 32; kube-apiserver's does not. Such a text is read part by part.
Pure. Must hold: each part is read where it stands, so that the places of its nodes are those in the whole text.
"""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)|(?P<text>(?:[rR]?[bB]?|[bB][rR])(?:\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))"""
    r"""|(?P<word>[\w.]+|`[^`]*`)|(?P<other>&&|\|\||[<>=!]=|.)"""
)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_LOOSER = frozenset({"?", ":", "&&", "||", "<", "<=", ">", ">=", "==", "!=", "in", ","})
_MOST_PARTS = 250
"""What is read part by part is walked down by everybody who looks at it."""
_SUMS = {"+": "_+_", "-": "_-_"}


class Part(NamedTuple):
    """One part: the operator before it (none before the first) and its offset, and the text with nothing else in it."""

    function: str
    place: int
    text: str


def parts(text: str) -> list[Part]:
    """The parts of a text that is a sum and nothing else; none of another one, and of one with too many."""
    cuts = _cuts(text)
    if not 0 < len(cuts) < _MOST_PARTS:
        return []
    ends = [place for place, _ in cuts[1:]] + [len(text)]
    rest = [
        Part(_SUMS[sign], place, _alone(text, place + 1, end)) for (place, sign), end in zip(cuts, ends, strict=True)
    ]
    return [Part("", 0, _alone(text, 0, cuts[0][0])), *rest]


def _cuts(text: str) -> list[tuple[int, str]]:
    """Where the operators of the outermost sum stand."""
    found: list[tuple[int, str]] = []
    depth, is_behind_value = 0, False
    for token in _TOKEN.finditer(text):
        kind, shown = token.lastgroup, token.group()
        if kind == "space":
            continue
        if depth == 0 and shown in _LOOSER:
            return []
        if depth == 0 and shown in _SUMS and is_behind_value:
            found.append((token.start(), shown))
        depth += (shown in _OPENING) - (shown in _CLOSING) if kind == "other" else 0
        is_behind_value = kind in ("text", "word") or shown in _CLOSING
    return found


def _alone(text: str, start: int, end: int) -> str:
    """A part in its place: what stands before it becomes space, lines stay lines."""
    return re.sub(r"[^\n]", " ", text[:start]) + text[start:end]

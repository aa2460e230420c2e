"""Patterns: which texts a pattern of a shell matches, with `*`, `?` and sets such as `[a-z]`.

Pure. No regular expression is made of a pattern: compiling and matching would cost what the client likes.
Must hold: each step backwards is charged.
"""

from typing import NamedTuple

from aio_apiserver.base.budget import Budget

_CHARACTERS_A_STEP = 4
_SPECIAL = frozenset("*?[")


class _Set(NamedTuple):
    """A set of characters, by ranges."""

    ranges: tuple[tuple[str, str], ...]
    is_negated: bool

    @property
    def steps(self) -> int:
        return 1 + len(self.ranges) // _CHARACTERS_A_STEP

    def has(self, char: str) -> bool:
        return any(first <= char <= last for first, last in self.ranges) != self.is_negated


_Piece = str | _Set
_MANY, _ANY = "many", "any"


class FilePattern:
    """A pattern that was read once."""

    def __init__(self, text: str, budget: Budget) -> None:
        budget.spend(1 + len(text))
        self._text = text
        self._budget = budget
        self._pieces = _pieces(text) if _SPECIAL & set(text) else None
        self._steps = max((one.steps for one in self._pieces or () if isinstance(one, _Set)), default=1)
        """The steps of a comparison with a character."""

    def matches(self, text: str) -> bool:
        """Whether the pattern stands for all of a text."""
        self._budget.spend(self._steps * (1 + len(text) // _CHARACTERS_A_STEP))
        return text == self._text if self._pieces is None else self._walk(text, self._pieces)

    def _walk(self, text: str, pieces: list[_Piece]) -> bool:
        """Match from left to right. After a misfit, the last `*` stands for one more character."""
        at = piece = 0
        star, star_at = -1, 0
        while at < len(text):
            if piece < len(pieces) and pieces[piece] == _MANY:
                star, star_at, piece = piece, at, piece + 1
            elif piece < len(pieces) and _fits(pieces[piece], text[at]):
                at, piece = at + 1, piece + 1
            elif star >= 0:
                self._budget.spend(self._steps * (1 + (at - star_at) // _CHARACTERS_A_STEP))
                star_at, at, piece = star_at + 1, star_at + 1, star + 1
            else:
                return False
        return all(one == _MANY for one in pieces[piece:])


def _fits(piece: _Piece, char: str) -> bool:
    return piece.has(char) if isinstance(piece, _Set) else piece in (_ANY, char)


def _pieces(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    at, last = 0, text.rfind("]")
    while at < len(text):
        char, at = text[at], at + 1
        if char == "*":
            pieces += [_MANY] if pieces[-1:] != [_MANY] else []
        elif char == "?":
            pieces.append(_ANY)
        elif char == "[" and (end := _end_of_set(text, at, last)) > 0:
            pieces.append(_set(text[at:end]))
            at = end + 1
        else:
            pieces.append(char)
    return pieces


def _end_of_set(text: str, at: int, last: int) -> int:
    """The place of the bracket that ends a set; -1 for a bracket that begins none. last: the last such bracket."""
    first = at + 2 if text[at : at + 1] in ("!", "^") else at + 1
    return text.find("]", first) if first <= last else -1


def _set(text: str) -> _Set:
    is_negated = text.startswith(("!", "^"))
    text = text[1:] if is_negated else text
    ranges, at = [], 0
    while at < len(text):
        has_end = text[at + 1 : at + 2] == "-" and at + 2 < len(text)
        ranges.append((text[at], text[at + 2] if has_end else text[at]))
        at += 3 if has_end else 1
    return _Set(tuple(ranges), is_negated)

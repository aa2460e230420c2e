"""secret_texts: takes the values of Secrets out of texts.

Pure. At each place of a text, it compares the values that begin with the six letters there. Values of less than six
letters are not looked for: they are parts of usual words.
"""

from collections.abc import Iterable
from typing import Any

from aio_apiserver.apiserver.console.timeline.differences import CUT
from aio_apiserver.apiserver.console.timeline.hidden_values import HIDDEN

SHORTEST = 6


class SecretTexts:
    """The values to hide, by their first six letters."""

    def __init__(self, values: Iterable[str]) -> None:
        self._starting: dict[str, list[str]] = {}
        for value in sorted(values, key=len, reverse=True):
            if len(value) >= SHORTEST:
                self._starting.setdefault(value[:SHORTEST], []).append(value)

    def without(self, value: Any) -> Any:
        """The JSON value with `(hidden)` in the place of each secret in its texts."""
        if isinstance(value, str):
            return self._of_text(value)
        if isinstance(value, dict):
            return {self._of_text(name): self.without(one) for name, one in value.items()}
        return [self.without(one) for one in value] if isinstance(value, list | tuple) else value

    def _of_text(self, text: str) -> str:
        whole, starting = text.removesuffix(CUT), self._starting
        parts: list[str] = []
        shown, at, last = 0, 0, len(whole) - SHORTEST
        while at <= last:
            known = starting.get(whole[at : at + SHORTEST])
            length = _length(whole, at, known) if known else 0
            if length:
                parts += (whole[shown:at], HIDDEN)
                shown = at + length
            at += length or 1
        return "".join((*parts, text[shown:]))


def _length(text: str, at: int, values: Iterable[str]) -> int:
    """The length of the value at a place, or 0. A value that the end of the text has cut counts, too."""
    left = len(text) - at
    return next((min(len(value), left) for value in values if text.startswith(value[:left], at)), 0)

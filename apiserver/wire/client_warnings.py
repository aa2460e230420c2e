"""Warnings: what a client should know although its request succeeds, as Warning headers.

Pure. Must hold: one text is sent once; all texts together stay within the limit, if need be by shortening each; what
has no chance of being sent costs nothing.
"""

from msgspec import Struct, field

TOTAL_LIMIT = 4 * 1024
"""Characters in all warnings of an answer; above it each is cut to ITEM_LIMIT, and what is still too much left out."""
ITEM_LIMIT = 256
_CODE = 299


class Warnings(Struct):
    """Collects the warnings of one request, in order."""

    _texts: dict[str, None] = field(default_factory=dict)
    _least: int = 0
    """Characters of all texts, each shortened."""

    def add(self, text: str) -> None:
        """Warn of something. Empty texts, repeated ones and those that no header can carry are dropped."""
        if self._least < TOTAL_LIMIT and text and text not in self._texts and text.isprintable():
            self._texts[text] = None
            self._least += min(len(text), ITEM_LIMIT)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._texts)

    def headers(self) -> list[str]:
        """The values of the Warning headers."""
        if not self._texts:
            return []
        if sum(map(len, self._texts)) <= TOTAL_LIMIT:
            return list(map(_header, self._texts))
        headers = []
        written = 0
        for text in self._texts:
            if written >= TOTAL_LIMIT:
                break
            written += min(len(text), ITEM_LIMIT)
            headers.append(_header(text[:ITEM_LIMIT]))
        return headers


def _header(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'{_CODE} - "{escaped}"'

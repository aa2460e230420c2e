"""Client warnings: the Warning headers of one response, about requests that succeed.

Pure. Must hold: each text is sent once. All texts together stay within 4 KiB; above it, each is cut. A text that cannot
be sent is not kept. Each warning is decided where it arises; handlers/resources.py warns of deprecated versions.
"""

import re

from msgspec import Struct, field

TOTAL_LIMIT = 4 * 1024
"""Characters in all warnings of a response. Above it each text is cut to ITEM_LIMIT, and texts that still do not fit
are left out.
"""
ITEM_LIMIT = 256
_CODE = 299
_UNSENDABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and what has no form in UTF-8."""


class Warnings(Struct):
    """The warnings of one request, in order."""

    texts: dict[str, None] = field(default_factory=dict)
    _least: int = 0
    """Characters of all texts when each is cut to ITEM_LIMIT."""

    def add(self, text: str) -> None:
        """Add a warning. Empty texts, repeated texts and texts that a header cannot carry are dropped."""
        if self._least < TOTAL_LIMIT and text and text not in self.texts and not _UNSENDABLE.search(text):
            self.texts[text] = None
            self._least += min(len(text), ITEM_LIMIT)

    def __bool__(self) -> bool:
        """Whether there are warnings."""
        return bool(self.texts)

    def headers(self) -> list[str]:
        """The values of the Warning headers."""
        if not self.texts:
            return []
        if sum(map(len, self.texts)) <= TOTAL_LIMIT:
            return list(map(_header, self.texts))
        headers = []
        written = 0
        for text in self.texts:
            if written >= TOTAL_LIMIT:
                break
            written += min(len(text), ITEM_LIMIT)
            headers.append(_header(text[:ITEM_LIMIT]))
        return headers


def _header(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'{_CODE} - "{escaped}"'

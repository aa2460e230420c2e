"""Patterns: regular expressions of clients, run on RE2 as in Go, without backtracking.

RE2 is imported at the first pattern.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from aio_apiserver.registry.base.text_caches import remember_short

REMEMBERED = 4096
_MOST_MEMORY = 8 << 20


@remember_short(REMEMBERED, longest=1024)
def compiled(pattern: str) -> Any:
    """The compiled pattern. Raises ValueError with Go's message."""
    import re2

    try:
        return re2.compile(pattern, _options())
    except re2.error as exc:
        raise ValueError(_explained(exc)) from exc


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern matches anywhere in the text."""
    return compiled(pattern).search(text) is not None


@cache
def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    return options


def _explained(exc: Exception) -> str:
    """Go's message for an error of RE2; most are equal."""
    words = exc.args[0] if exc.args else ""
    text = words.decode(errors="replace") if isinstance(words, bytes) else str(words)
    what, _, where = text.partition(": ")
    return f"error parsing regexp: {_GO_WORDS.get(what, what)}: `{where}`"


_GO_WORDS: Mapping[str, str] = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "pattern too large - compile failed": "expression too large",
    "trailing \\ at end of regexp": "trailing backslash at end of expression",
    "trailing \\": "trailing backslash at end of expression",
}

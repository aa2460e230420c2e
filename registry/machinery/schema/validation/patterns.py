"""Patterns: regular expressions of clients, run on RE2 as in Go, without backtracking.

RE2's time grows with the length of the text and with the size of the compiled pattern. That can be a thousand times the
size of the pattern's text. RE2 holds Python's interpreter while it compiles. It is imported at the first pattern.

Must hold: compiling and matching pay a budget before they begin. A large pattern is compiled outside of the event loop.
The memory of all kept patterns together has a limit.
"""

from collections import OrderedDict
from collections.abc import Mapping
from functools import cache
from threading import Lock
from typing import Any

from msgspec import Struct

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.machinery.schema.validation import pattern_sizes

LONGEST = 4096
"""Characters of a pattern. kube-apiserver has no limit but that of the body."""
MOST_OPTIONAL = 5_000
"""Parts of a pattern that may be left out; RE2 compiles so many in some 50 ms."""
_SMALL, _LARGE = 128 * 1024, 2 * 1024 * 1024
"""The memory that RE2 may use for a pattern, compiled and while it matches. Nearly all patterns are small."""
_KEPT = 64 * 1024 * 1024
_SMALL_STEPS, _LARGE_STEPS = 100, 50_000
_CLASS_STEPS = 50
"""RE2 reads thousands of ranges for a class of Unicode such as `\\pL`."""
_CHECKS_OF_A_STEP = 64
"""Instructions times characters that RE2 does in a step when it is slowest."""
_INSTRUCTIONS_OF_AN_ELEMENT = 4
"""A class of Unicode has thousands, of which a character concerns those of its four bytes."""


class Pattern(Struct, frozen=True):
    """A compiled pattern; `size`: the most of its instructions that one character of a text can concern."""

    regex: Any
    size: int

    def pay(self, length: int, budget: Budget) -> None:
        """Pay for a search in a text of this length. Raises BudgetExceeded."""
        budget.spend(self.size * length // _CHECKS_OF_A_STEP)


class KeptPatterns:
    """The patterns that were used last, bounded by the memory that they may take. Several threads use it."""

    def __init__(self, limit: int = _KEPT) -> None:
        self._limit = limit
        self._bytes = 0
        self._patterns: OrderedDict[str, tuple[Pattern, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, text: str) -> Pattern | None:
        with self._lock:
            entry = self._patterns.get(text)
            if entry is None:
                return None
            self._patterns.move_to_end(text)
            return entry[0]

    def add(self, text: str, pattern: Pattern, memory: int) -> None:
        """Keep a pattern, and drop the ones that were not used for longest."""
        with self._lock:
            _, replaced = self._patterns.pop(text, (None, 0))
            self._patterns[text] = pattern, memory
            self._bytes += memory - replaced
            while self._bytes > self._limit:
                _, (_, freed) = self._patterns.popitem(last=False)
                self._bytes -= freed

    def __len__(self) -> int:
        return len(self._patterns)


_kept = KeptPatterns()


def compiled(text: str, budget: Budget) -> Pattern:
    """The compiled pattern. Raises ValueError with Go's message, and BudgetExceeded."""
    kept = _kept.get(text)
    if kept is not None:
        return kept
    if len(text) > LONGEST or (size := pattern_sizes.measured(text)).optional > MOST_OPTIONAL:
        raise _too_large(text)
    budget.spend(_SMALL_STEPS + len(text) + _CLASS_STEPS * (text.count("\\p") + text.count("\\P")))
    regex, memory = _compiled(text, _SMALL), _SMALL
    if regex is None:
        budget.spend(_LARGE_STEPS)
        regex, memory = _compiled(text, _LARGE), _LARGE
    if regex is None:
        raise _too_large(text)
    pattern = Pattern(regex, min(regex.programsize, _INSTRUCTIONS_OF_AN_ELEMENT * size.elements))
    _kept.add(text, pattern, memory)
    return pattern


def _too_large(text: str) -> ValueError:
    return ValueError(f"error parsing regexp: expression too large: `{text}`")


def matches(pattern: str, text: str, budget: Budget) -> bool:
    """Whether the pattern matches anywhere in the text. Raises ValueError, BudgetExceeded."""
    compiled_pattern = compiled(pattern, budget)
    compiled_pattern.pay(len(text), budget)
    return compiled_pattern.regex.search(text) is not None


def _compiled(text: str, memory: int) -> Any:
    """The compiled pattern; None when its program does not fit into the memory. Raises ValueError."""
    import re2

    try:
        regex = re2.compile(text, _options(memory))
    except re2.error as exc:
        words = _words(exc)
        if words.startswith(_NO_MEMORY):
            return None
        raise ValueError(_explained(words)) from exc
    re2.purge()  # it keeps 128 patterns of any size
    return regex


@cache
def _options(memory: int) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    return options


def _words(exc: Exception) -> str:
    words = exc.args[0] if exc.args else ""
    return words.decode(errors="replace") if isinstance(words, bytes) else str(words)


def _explained(words: str) -> str:
    """Go's message for an error of RE2; most are equal."""
    what, _, where = words.partition(": ")
    return f"error parsing regexp: {_GO_WORDS.get(what, what)}: `{where}`"


_NO_MEMORY = "pattern too large"
_GO_WORDS: Mapping[str, str] = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\ at end of regexp": "trailing backslash at end of expression",
    "trailing \\": "trailing backslash at end of expression",
}

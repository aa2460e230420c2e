"""Request list: a list of requests that tests compare with lines of text.

    assert server.requests.matching(verb="patch") == ["patch deployments.apps default/web", "patch pods default/web-*"]

Pure. Must hold: a failed comparison shows what is surplus, what is missing, and in which order.
"""

from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from aio_apiserver.testing.bench.recorded_request import RecordedRequest

_MOST_LINES = 60


class RequestList(list[RecordedRequest]):
    """Requests, oldest first. They equal a list of lines, or of patterns, when all match in order."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence) and _are_lines(other):
            return len(self) == len(other) and all(map(fnmatchcase, self.lines, other))
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    @property
    def lines(self) -> list[str]:
        """The requests as lines: verb, resource and name."""
        return [one.line for one in self]

    @property
    def bodies(self) -> list[Any]:
        """The bodies of the requests."""
        return [one.body for one in self]

    @property
    def statuses(self) -> list[int]:
        return [one.status for one in self]

    def difference(self, expected: Sequence[str]) -> list[str]:
        """A diff: surplus (+), missing (-) and matching lines."""
        return list(_difference(self.lines, expected))


def table(requests: Collection[RecordedRequest], fitting: Collection[int] = ()) -> list[str]:
    """The requests as a table. Those whose numbers are in `fitting` are marked."""
    rows = [("", "status", "request", "user", "user agent")]
    for one in list(requests)[-_MOST_LINES:]:
        mark = ">" if one.number in fitting else " "
        rows.append((mark, str(one.status or "---"), one.line, one.user, one.user_agent))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    left_out = len(requests) - _MOST_LINES
    return [f"({left_out} earlier ones)", *lines] if left_out > 0 else lines


def _difference(made: Sequence[str], expected: Sequence[str]) -> Iterator[str]:
    """A diff by the longest common subsequence, in which patterns match lines."""
    lengths = _common_lengths(made, expected)
    i = j = 0
    while i < len(made) or j < len(expected):
        if i < len(made) and j < len(expected) and fnmatchcase(made[i], expected[j]):
            yield f"  {made[i]}"
            i, j = i + 1, j + 1
        elif j == len(expected) or (i < len(made) and lengths[i + 1][j] >= lengths[i][j + 1]):
            yield f"+ {made[i]}"
            i += 1
        else:
            yield f"- {expected[j]}"
            j += 1


def _common_lengths(made: Sequence[str], expected: Sequence[str]) -> list[list[int]]:
    """The lengths of the longest common subsequences of all suffixes: from i in one and j in the other."""
    lengths = [[0] * (len(expected) + 1) for _ in range(len(made) + 1)]
    for i in reversed(range(len(made))):
        for j in reversed(range(len(expected))):
            fits = fnmatchcase(made[i], expected[j])
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if fits else max(lengths[i + 1][j], lengths[i][j + 1])
    return lengths


def explain(left: object, right: object) -> list[str] | None:
    """The explanation of a failed comparison; None when neither side is a list of requests."""
    if isinstance(left, RequestList) and isinstance(right, Sequence) and _are_lines(right):
        return [f"{len(left)} made, {len(right)} expected (+ made, - expected):", *left.difference(right)]
    if isinstance(right, RequestList) and _are_lines(left):
        return explain(right, left)
    if isinstance(left, RequestList) and right == []:
        return [f"{len(left)} made, none expected:", *table(left)]
    return None


def _are_lines(value: object) -> bool:
    return isinstance(value, Sequence) and bool(value) and all(isinstance(line, str) for line in value)

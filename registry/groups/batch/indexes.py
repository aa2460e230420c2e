"""Indexes: the indexes of an indexed Job as text (`0,2-4,7`): parsing and overlap. Pure."""

import re
from collections.abc import Iterator

from msgspec import Struct

from aio_apiserver.registry.base.golang.quoting import quote

_NUMBER = re.compile("[+-]?[0-9]+", re.ASCII)
_MAX_INT = 2**63 - 1


class InvalidIndexes(ValueError):
    """The text is no list of indexes. The message is kube-apiserver's."""


class Interval(Struct, frozen=True):
    """An interval from the first to the last index, both included."""

    first: int
    last: int


def parse(text: str, completions: int) -> int:
    """The number of indexes in the text. They have to be in increasing order. Raises InvalidIndexes."""
    total, last = 0, None
    for part in text.split(",") if text else ():
        interval = _interval(part, completions)
        if last is not None and last >= interval.first:
            raise InvalidIndexes(f"non-increasing order, previous: {last}, current: {interval.first}")
        total += interval.last - interval.first + 1
        last = interval.last
    return total


def overlap(one: str, other: str, completions: int) -> int | None:
    """The first index that both texts contain; None when there is none. Invalid parts are ignored."""
    ones, others = _readable(one, completions), _readable(other, completions)
    left, right = next(ones, None), next(others, None)
    while left is not None and right is not None:
        if left.first <= right.last and right.first <= left.last:
            return max(left.first, right.first)
        if left.first <= right.first:
            left = next(ones, None)
        else:
            right = next(others, None)
    return None


def _readable(text: str, completions: int) -> Iterator[Interval]:
    for part in text.split(",") if text else ():
        try:
            yield _interval(part, completions)
        except InvalidIndexes:
            continue


def _interval(text: str, completions: int) -> Interval:
    limits = text.split("-")
    if len(limits) > 2:
        raise InvalidIndexes(
            f"the fragment {quote(text)} violates the requirement that an index interval can have at most two parts "
            "separated by '-'"
        )
    first = _index(limits[0], completions)
    if len(limits) == 1:
        return Interval(first, first)
    last = _index(limits[1], completions)
    if first >= last:
        raise InvalidIndexes(f"non-increasing order, previous: {first}, current: {last}")
    return Interval(first, last)


def _index(text: str, completions: int) -> int:
    if not _NUMBER.fullmatch(text) or len(text) > len(str(_MAX_INT)) or int(text) > _MAX_INT:
        raise InvalidIndexes(f"cannot convert string to integer for index: {quote(text)}")
    if int(text) >= completions:
        raise InvalidIndexes(f"too large index: {quote(text)}")
    return int(text)

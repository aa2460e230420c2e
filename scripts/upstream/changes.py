"""Changes: what is different between the facts of the product and those of the sources, as a table for people."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aio_apiserver.registry.base.timeline import Version, text_of
from scripts.upstream.generation import Made

_COLUMNS = ("table", "minor", "new", "changed", "gone")


@dataclass(frozen=True)
class Change:
    """The rows of one table that are different in one minor, by their names."""

    title: str
    minor: Version
    new: Sequence[str]
    changed: Sequence[str]
    gone: Sequence[str]


def changes(made: Made) -> Iterator[Change]:
    """What is different in each minor. A minor that the table did not have is compared with the one before."""
    for minor, after in sorted(made.after.items()):
        older = [one for one in made.before if one <= minor]
        before = made.before[max(older)] if older else {}
        new, gone = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
        changed = sorted(name for name in after.keys() & before.keys() if after[name] != before[name])
        if new or gone or changed:
            yield Change(made.title, minor, new, changed, gone)


def text(all_changes: Sequence[Change]) -> str:
    """The changes as a table of counts, and below it the names of the rows."""
    if not all_changes:
        return "No fact has changed.\n"
    rows = [_COLUMNS, *(_counts(one) for one in all_changes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", *(line for one in all_changes for line in _names(one))]) + "\n"


def _counts(change: Change) -> tuple[str, ...]:
    counts = (str(len(rows)) for rows in (change.new, change.changed, change.gone))
    return (change.title, text_of(change.minor), *counts)


def _names(change: Change) -> Iterator[str]:
    for mark, rows in (("+", change.new), ("~", change.changed), ("-", change.gone)):
        for name in rows:
            yield f"{mark} {change.title} {text_of(change.minor)}: {name}"

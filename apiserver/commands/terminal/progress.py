"""Progress: the progress bar of long commands, on stderr and on a terminal alone. It knows rich."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_STEP = 256


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar; the callable advances it by one."""
    if not sys.stderr.isatty():
        yield _nothing
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task, done = bar.add_task(title, total=total), 0

        def advance() -> None:
            nonlocal done
            done += 1
            if done % _STEP == 0:
                bar.update(task, completed=done)

        yield advance
        bar.update(task, completed=done, total=done)


def _nothing() -> None:
    """Output that goes to a file or a pipe has no bar."""

"""YAML limits: the depth of a document, and its size after the expansion of aliases, as in Go's YAML library.

A few lines of aliases to aliases stand for billions of values. Pure. Must hold: the events of the text are counted, and
no value is built for it. The composer in C would overflow its stack, and a walk over the values would not end.
"""

from collections.abc import Iterable

import yaml

MAX_DEPTH = 200
_VERSIONS = (None, (1, 1))

# As in Go's library: a small document may consist almost only of aliases, a large one of few.
_FREE_ALIASED, _FREE_VALUES = 100, 1_000
_SMALL, _LARGE = 400_000, 4_000_000
_SHARE_OF_SMALL, _SHARE_OF_LARGE = 0.99, 0.10


def check(events: Iterable[yaml.Event]) -> None:
    """Raises ValueError for a first document that is too deep, too large, contains itself, or is of a later YAML
    version.
    """
    counter = _Counter()
    for event in events:
        if isinstance(event, yaml.DocumentEndEvent):
            return
        counter.count(event)


class _Counter:
    """Counts values with each alias replaced by its anchor's value."""

    def __init__(self) -> None:
        self._values = 0
        self._aliased = 0
        self._open: list[tuple[str | None, int]] = []
        self._sizes: dict[str, int] = {}

    def count(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            if event.version not in _VERSIONS:
                raise ValueError("yaml: found incompatible YAML document")
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, begin = self._open.pop()
            self._remember(anchor, self._values - begin)
        elif isinstance(event, yaml.ScalarEvent):
            self._values += 1
            self._remember(event.anchor, 1)
        elif isinstance(event, yaml.AliasEvent):
            self._replace(event.anchor)

    def _begin(self, anchor: str | None) -> None:
        if len(self._open) == MAX_DEPTH:
            raise ValueError("yaml: exceeded max depth")
        self._open.append((anchor, self._values))
        self._values += 1

    def _remember(self, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self._sizes[anchor] = size

    def _replace(self, anchor: str | None) -> None:
        if any(anchor == one for one, _ in self._open):
            raise ValueError(f"yaml: anchor '{anchor}' value contains itself")
        size = self._sizes.get(anchor or "", 0)
        self._values += 1 + size
        self._aliased += size
        if self._aliased > _FREE_ALIASED and self._values > _FREE_VALUES:
            self._check_share()

    def _check_share(self) -> None:
        part = min(max((self._values - _SMALL) / (_LARGE - _SMALL), 0.0), 1.0)
        allowed = _SHARE_OF_SMALL - part * (_SHARE_OF_SMALL - _SHARE_OF_LARGE)
        if self._aliased / self._values > allowed:
            raise ValueError("yaml: document contains excessive aliasing")

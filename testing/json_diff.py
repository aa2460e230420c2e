"""JSON diff: the JSON patch that makes one object from another. Pure.

>>> list(difference({"a": 1, "b": [1, 2]}, {"b": [1, 3]}))
[{'op': 'remove', 'path': '/a'}, {'op': 'replace', 'path': '/b/1', 'value': 3}]

Must hold: the operations, applied in order, make `after` from `before`.
"""

from collections.abc import Iterator
from typing import Any

Operation = dict[str, Any]


def difference(before: Any, after: Any, path: str = "") -> Iterator[Operation]:
    """The operations of the patch."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_maps(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, path)
    elif before != after or isinstance(before, bool) is not isinstance(after, bool):
        yield {"op": "replace", "path": path, "value": after}


def _of_maps(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Operation]:
    for name in before:
        if name not in after:
            yield {"op": "remove", "path": _within(path, name)}
    for name, value in after.items():
        if name in before:
            yield from difference(before[name], value, _within(path, name))
        else:
            yield {"op": "add", "path": _within(path, name), "value": value}


def _of_lists(before: list[Any], after: list[Any], path: str) -> Iterator[Operation]:
    for index, (one, other) in enumerate(zip(before, after, strict=False)):
        yield from difference(one, other, f"{path}/{index}")
    for index in reversed(range(len(after), len(before))):
        yield {"op": "remove", "path": f"{path}/{index}"}
    for value in after[len(before) :]:
        yield {"op": "add", "path": f"{path}/-", "value": value}


def _within(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"

"""Paths: the part of jq that selectors and delays of Stages use.

Pure. A path is a sequence of steps: `.a`, `["a"]`, `[0]`, `[]` and `select(PATH == "text")`, joined directly or with
`|`. Must hold: a path that does not fit an object yields no value, as a failing query in kwok.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from aio_apiserver.simulation.stages.unsupported import Unsupported

Step = Callable[[Any], Iterable[Any]]
Path = Callable[[Any], list[Any]]

_TEXT = r'"(?:[^"\\]|\\.)*"'
_STEP = re.compile(
    rf"""\s*(?:
    (?P<select>select\s*\(\s*(?P<path>\.(?:[^()"]|{_TEXT})*?)(?P<operator>==|!=)\s*(?P<text>{_TEXT})\s*\))
    |\.?\[\s*(?P<key>{_TEXT})\s*\]
    |\.?\[\s*(?P<index>-?\d+)\s*\]
    |(?P<every>\.?\[\s*\])
    |\.(?P<quoted>{_TEXT})
    |\.(?P<name>[A-Za-z_]\w*)
    |(?P<pipe>\|)
    |(?P<same>\.)
    )\s*""",
    re.VERBOSE,
)


class _Misfit(Exception):
    """A step meets a value of another type."""


def parse(text: str) -> Path:
    """The values of an object at a path, without nulls. Raises Unsupported."""
    steps = list(_steps(text))

    def values(obj: Any) -> list[Any]:
        try:
            return [one for one in _walk(obj, steps) if one is not None]
        except _Misfit:
            return []

    return values


def _walk(value: Any, steps: Sequence[Step]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    for part in steps[0](value):
        yield from _walk(part, steps[1:])


def _steps(text: str) -> Iterator[Step]:
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            raise Unsupported(f"the expression {text!r} at {text[position:]!r}")
        position = found.end()
        if found["pipe"] is None and found["same"] is None:
            yield _step(found)


def _step(found: "re.Match[str]") -> Step:
    if found["select"] is not None:
        return _select(parse(found["path"]), found["operator"] == "==", _unquoted(found["text"]))
    if found["every"] is not None:
        return _every
    if found["index"] is not None:
        return _item(int(found["index"]))
    quoted = found["key"] or found["quoted"]
    return _member(_unquoted(quoted) if quoted else found["name"])


def _unquoted(text: str) -> str:
    """The text in quotation marks. Raises Unsupported."""
    try:
        return str(json.loads(text))
    except ValueError as exc:
        raise Unsupported(f"the text {text}: {exc}") from exc


def _member(name: str) -> Step:
    def step(value: Any) -> Iterable[Any]:
        if value is not None and not isinstance(value, dict):
            raise _Misfit
        return [(value or {}).get(name)]

    return step


def _item(index: int) -> Step:
    def step(value: Any) -> Iterable[Any]:
        if value is not None and not isinstance(value, list):
            raise _Misfit
        items = value or []
        return [items[index] if -len(items) <= index < len(items) else None]

    return step


def _every(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    raise _Misfit


def _select(path: Path, wanted: bool, text: str) -> Step:
    def step(value: Any) -> Iterable[Any]:
        return [value] if (text in path(value)) is wanted else []

    return step

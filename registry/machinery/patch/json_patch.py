"""JSON patch: RFC 6902 as kube-apiserver carries it out, which is more lenient than the RFC.

`replace` adds a missing member. A missing value is null, and a missing member equals null in `test`. Indexes may count
from the end. Text before the first slash of a path is ignored.

Pure. The document and the operations are changed in place. Must hold: when one operation fails, the whole patch fails
with Unprocessable, whose Status gives no reason. Copies, long paths and long lists have limits, so that a small patch
causes neither a large document nor long work. Objects on the path of an operation get sorted members, because
kube-apiserver reports their errors in that order.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.registry.base.errors import RequestEntityTooLarge, Unprocessable
from aio_apiserver.registry.machinery.patch import texts

MAX_OPERATIONS = 10_000
MAX_COPIED_BYTES = 3 * 1024 * 1024
"""The limit for the copies of one patch."""
_MAX_EFFORT = 20_000_000
"""List elements that one patch may shift; about a tenth of a second."""
_EFFORT_OF_STEP = 100
"""The cost of one path step, in shifted elements."""

_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_MISSING = object()

Operation = Mapping[str, Any]
Container = dict[str, Any] | list[Any]


def applied(document: dict[str, Any], operations: Sequence[Operation | None]) -> Any:
    """The document after all operations. Raises Unprocessable and RequestEntityTooLarge."""
    if len(operations) > MAX_OPERATIONS:
        raise RequestEntityTooLarge(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        )
    work = _Work(document)
    for operation in operations:
        work.apply(operation or {})
    return work.result()


class Inapplicable(Unprocessable):
    """The patch does not apply. `why` is for errors about webhooks and policies; clients do not see it."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


class TestFailed(Inapplicable):
    """A `test` operation found another value."""


class _Words(Struct, frozen=True):
    """How an error tells of a pointer: when it leads nowhere, and when what it names does not exist."""

    nowhere: str
    missing: str


_WORDS = {
    ("add", "path"): _Words('doc is missing path: "{pointer}"', "error in add for path: '{pointer}': {why}"),
    ("remove", "path"): _Words('doc is missing path: "{pointer}"', "error in remove for path: '{pointer}': {why}"),
    ("replace", "path"): _Words(
        "doc is missing path: {pointer}",
        "replace operation does not apply: doc is missing key: {pointer}: missing value",
    ),
    ("move", "from"): _Words("doc is missing from path: {pointer}", "error in move for path: '{key}': {why}"),
    ("move", "path"): _Words(
        "doc is missing destination path: {pointer}", "error in move for path: '{pointer}': {why}"
    ),
    ("copy", "from"): _Words("doc is missing from path: {pointer}", "error in copy for from: '{pointer}': {why}"),
    ("copy", "path"): _Words(
        "doc is missing destination path: {pointer}", "error while adding value during copy: {why}"
    ),
    ("test", "path"): _Words("is missing path: {pointer}", "error in test for path: '{pointer}': {why}"),
}
"""By operation and the member with the pointer."""


class _NoValue(Exception):
    """The member or element does not exist."""


class _Work:
    """A document during patching. `_visited`: the objects on the paths of operations, by identity."""

    def __init__(self, document: Container) -> None:
        self._document = document
        self._visited: dict[int, dict[str, Any]] = {}
        self._copied_bytes = 0
        self._effort = 0
        self._last = _WORDS["add", "path"], "", ""

    def apply(self, operation: Operation) -> None:
        name = operation.get("op")
        carry_out = _OPERATIONS.get(name) if isinstance(name, str) else None
        if carry_out is None:
            raise Inapplicable(f"Unexpected kind: {name}")
        try:
            carry_out(self, operation)
        except _NoValue as exc:
            words, pointer, key = self._last
            raise Inapplicable(words.missing.format(pointer=pointer, key=key, why=exc)) from exc

    def result(self) -> Any:
        self._visit(self._document)
        for container in self._visited.values():
            _sort_members(container)
        return self._document

    def add(self, operation: Operation) -> None:
        container, key = self._place(operation)
        _add(container, key, operation.get("value"))

    def remove(self, operation: Operation) -> None:
        container, key = self._place(operation)
        _take(container, key)

    def replace(self, operation: Operation) -> None:
        path, value = _pointer(operation, "path"), operation.get("value")
        if not path:
            if not isinstance(value, dict | list):
                raise Unprocessable
            self._document = value
            return
        container, key = self._place(operation)
        if isinstance(container, dict):
            container[key] = value
        else:
            container[_index(key, len(container))] = value

    def move(self, operation: Operation) -> None:
        container, key = self._place(operation, "from")
        value = _take(container, key)
        container, key = self._place(operation)
        _add(container, key, value)

    def copy(self, operation: Operation) -> None:
        container, key = self._place(operation, "from")
        value = _get(container, key)
        container, key = self._place(operation)
        _add(container, key, self._copy(value))

    def test(self, operation: Operation) -> None:
        path, expected = _pointer(operation, "path"), operation.get("value")
        value: Any = self._document
        if path:
            container, key = self._place(operation)
            value = _get(container, key)
        if not _are_equal(value, expected):
            raise TestFailed(f"testing value {path} failed: test failed")

    def _place(self, operation: Operation, member: str = "path") -> tuple[Container, str]:
        """The container to which a pointer of the operation leads, and the last step."""
        pointer, name = _pointer(operation, member), operation["op"]
        words = _WORDS[name, member]
        _, *steps = pointer.split("/")
        container = self._container(steps[:-1]) if steps else None
        if container is None:
            nowhere = words.nowhere.format(pointer=pointer)
            raise Inapplicable(f"{name} operation does not apply: {nowhere}: missing value")
        self._spend(len(steps) * _EFFORT_OF_STEP + (len(container) if isinstance(container, list) else 0))
        key = _unescaped(steps[-1])
        self._last = words, pointer, key
        return container, key

    def _container(self, steps: Sequence[str]) -> Container | None:
        """The container to which steps lead, if there is one."""
        container: Any = self._document
        for step in steps:
            self._visit(container)
            container = _value_or_null(container, _unescaped(step))
            if not isinstance(container, dict | list):
                return None
        self._visit(container)
        found: Container = container
        return found

    def _spend(self, effort: int) -> None:
        self._effort += effort
        if self._effort > _MAX_EFFORT:
            raise Unprocessable

    def _visit(self, container: Container) -> None:
        if isinstance(container, dict):
            self._visited[id(container)] = container
            if isinstance(container, texts.Repeated):
                container.pairs = None

    def _sort_within(self, value: Any) -> None:
        """Sort the members of visited objects. A visited object lies in other visited objects."""
        if isinstance(value, list):
            for item in value:
                self._sort_within(item)
        elif isinstance(value, dict) and id(value) in self._visited:
            _sort_members(value)
            for item in value.values():
                self._sort_within(item)

    def _copy(self, value: Any) -> Any:
        self._sort_within(value)
        text = texts.written(value)
        self._copied_bytes += len(text)
        if self._copied_bytes > MAX_COPIED_BYTES:
            raise Unprocessable
        return orjson.loads(text)


_OPERATIONS: Mapping[str, Callable[[_Work, Operation], None]] = {
    "add": _Work.add,
    "remove": _Work.remove,
    "replace": _Work.replace,
    "move": _Work.move,
    "copy": _Work.copy,
    "test": _Work.test,
}


def _sort_members(container: dict[str, Any]) -> None:
    members = sorted(container.items())
    container.clear()
    container.update(members)


def _pointer(operation: Operation, name: str) -> str:
    pointer = operation.get(name)
    if not isinstance(pointer, str):
        raise Unprocessable
    return pointer


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~") if "~" in step else step


def _index(key: str, length: int) -> int:
    """The index of an existing element."""
    index = int(key) if _INDEX.fullmatch(key) else length
    if not -length <= index < length:
        raise _NoValue(f"Unable to access invalid index: {key}: invalid index referenced")
    return index % length


def _value_or_null(container: Container, key: str) -> Any:
    """The value; null for a missing member or element."""
    try:
        return _get(container, key)
    except _NoValue:
        return None


def _get(container: Container, key: str) -> Any:
    """The value; null for a missing member."""
    if isinstance(container, dict):
        return container.get(key)
    return container[_index(key, len(container))]


def _add(container: Container, key: str, value: Any) -> None:
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        container.insert(_index(key, len(container) + 1), value)


def _take(container: Container, key: str) -> Any:
    """Remove and return an existing value."""
    if isinstance(container, dict):
        value = container.pop(key, _MISSING)
        if value is _MISSING:
            raise _NoValue(f"Unable to remove nonexistent key: {key}: missing value")
        return value
    return container.pop(_index(key, len(container)))


def _are_equal(one: Any, other: Any) -> bool:
    """JSON equality: 1, 1.0 and true differ. The cost is bounded by the smaller value."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            name in other and _are_equal(value, other[name]) for name, value in one.items()
        )
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    return bool(one == other)

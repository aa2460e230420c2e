"""linearizability: checks whether the answers that clients got fit one order of their operations on an object.

The order must respect time: an operation that ended before another began comes first. An operation whose answer was
lost may have taken effect at any time after its beginning, or not at all. The search is that of Wing and Gong with
Lowe's memory of visited states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf

Value = str | None
"""The content of an object; None: it does not exist. Each write has a content of its own."""


class Action(Enum):
    """What a client does with an object."""

    CREATE = "create"
    UPDATE = "update"
    """Replaces the content that the client has seen."""
    DELETE = "delete"
    READ = "read"


class Answer(Enum):
    """What the client was told."""

    OK = "ok"
    EXISTS = "exists"
    NOT_FOUND = "not found"
    CONFLICT = "conflict"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation on one object. seen: the content that an update replaces, and the content that a read returned."""

    action: Action
    answer: Answer
    began: float
    ended: float = inf
    written: Value = None
    seen: Value = None

    def __str__(self) -> str:
        parts = [self.action.value, self.written or "", f"[{self.seen}]" if self.seen else "", self.answer.value]
        return f"{self.began:10.6f} {self.ended:10.6f} {' '.join(filter(None, parts))}"


def first_contradiction(operations: Sequence[Operation]) -> Sequence[Operation]:
    """The beginning of a history that no order explains, up to the operation that shows it. Empty when all is well."""
    in_order = sorted(operations, key=lambda one: one.began)
    if is_linearizable(in_order):
        return ()
    least, most = 0, len(in_order)
    while most - least > 1:
        middle = (least + most) // 2
        if is_linearizable(in_order[:middle]):
            least = middle
        else:
            most = middle
    return in_order[:most]


def is_linearizable(operations: Sequence[Operation], initial: Value = None) -> bool:
    """Whether one order of the operations explains all answers."""
    in_order = sorted(operations, key=lambda one: one.began)
    everything = (1 << len(in_order)) - 1
    certain = sum(1 << place for place, one in enumerate(in_order) if one.answer is not Answer.LOST)
    visited: set[tuple[int, Value]] = set()
    stack: list[tuple[int, Value]] = [(0, initial)]
    while stack:
        done, value = stack.pop()
        if done & certain == certain or done == everything:
            return True
        if (done, value) in visited:
            continue
        visited.add((done, value))
        stack.extend(_steps(in_order, done, value))
    return not in_order


def _steps(operations: Sequence[Operation], done: int, value: Value) -> list[tuple[int, Value]]:
    """The states after each operation that may be the next one."""
    found: list[tuple[int, Value]] = []
    first_end = inf
    for place, one in enumerate(operations):
        if done >> place & 1:
            continue
        if one.began > first_end:
            break
        first_end = min(first_end, one.ended)
        if is_possible(one, value):
            found.append((done | 1 << place, effect(one, value)))
    return found


def is_possible(one: Operation, value: Value) -> bool:
    """Whether a right server gives this answer while the object has this content."""
    if one.answer is Answer.LOST:
        return True
    return one.answer is right_answer(one, value) and (one.action is not Action.READ or one.seen == value)


def right_answer(one: Operation, value: Value) -> Answer:
    """The answer of a server that is right."""
    if one.action is Action.CREATE:
        return Answer.OK if value is None else Answer.EXISTS
    if one.action is Action.READ:
        return Answer.OK
    if value is None:
        return Answer.NOT_FOUND
    return Answer.CONFLICT if one.action is Action.UPDATE and one.seen != value else Answer.OK


def effect(one: Operation, value: Value) -> Value:
    """The content after an operation, when it takes effect."""
    if one.action is Action.READ or right_answer(one, value) is not Answer.OK:
        return value
    return None if one.action is Action.DELETE else one.written

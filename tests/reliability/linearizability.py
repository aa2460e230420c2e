"""linearizability: checks whether the answers that clients got fit one order of their operations on an object.

The order must respect time: an operation that ended before another began comes first. An operation whose answer was
lost may have taken effect at any time after its beginning, or not at all. The search is that of Wing and Gong with
Lowe's memory of visited states. Must hold: it ends soon also when most answers were lost, since operations that are
alike stand for each other.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import inf

Value = str | None
"""The content of an object; None: it does not exist. Each write has a content of its own."""


_UNSEEN = "?"
"""Stands for all contents that no operation has seen."""


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
    in_order = _without_unseen_contents(sorted(operations, key=lambda one: one.began), initial)
    certain = sum(1 << place for place, one in enumerate(in_order) if one.answer is not Answer.LOST)
    visited: set[tuple[int, Value]] = set()
    stack: list[tuple[int, Value]] = [(0, initial)]
    while stack:
        done, value = stack.pop()
        if done & certain == certain:
            return True
        if (done, value) in visited:
            continue
        visited.add((done, value))
        stack.extend(_steps(in_order, done, value))
    return False


def _without_unseen_contents(operations: Sequence[Operation], initial: Value) -> Sequence[Operation]:
    """The operations, in which all contents that no operation has seen are the same one.

    No answer depends on which of these contents an object has.
    """
    seen = {initial, *(one.seen for one in operations)}
    return [one if one.written in seen else replace(one, written=_UNSEEN) for one in operations]


def _steps(operations: Sequence[Operation], done: int, value: Value) -> Sequence[tuple[int, Value]]:
    """The states after each operation that may be the next one, the likely ones last.

    A certain operation that changes nothing comes alone: each order with it later has one with it now. A lost operation
    is left out when it would change nothing, or does what an earlier lost one does.
    """
    certain: list[tuple[int, Value]] = []
    lost: dict[Hashable, tuple[int, Value]] = {}
    first_end = inf
    for place, one in enumerate(operations):
        if done >> place & 1:
            continue
        if one.began > first_end:
            break
        first_end = min(first_end, one.ended)
        if not is_possible(one, value):
            continue
        after = done | 1 << place, effect(one, value)
        if one.answer is not Answer.LOST:
            if after[1] == value:
                return [after]
            certain.append(after)
        elif after[1] != value:
            lost.setdefault((one.action, one.seen, one.written), after)
    return [*lost.values(), *certain]


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

"""The checker itself: it accepts every history that one order explains, and no other."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reliability import linearizability
from tests.reliability.linearizability import Action, Answer, Operation, Value


def executed(seed: int, count: int, *, lost: float = 0.1) -> list[Operation]:
    """A history of a right server: each operation takes effect at a moment between its beginning and its end."""
    chance = random.Random(seed)
    value: Value = None
    known: list[Value] = [None]
    history: list[Operation] = []
    for moment in range(count):
        action = chance.choice(list(Action))
        seen = chance.choice(known) if action is Action.UPDATE else None
        planned = Operation(
            action, Answer.OK, moment - chance.random() * 3, moment + chance.random() * 3, f"v{moment}", seen
        )
        answer = linearizability.right_answer(planned, value)
        if action is Action.READ:
            planned = replace(planned, seen=value)
            known.append(value)
        is_lost = chance.random() < lost
        happens = not is_lost or chance.random() < 0.5
        history.append(
            replace(
                planned, answer=Answer.LOST if is_lost else answer, ended=float("inf") if is_lost else planned.ended
            )
        )
        if happens:
            value = linearizability.effect(planned, value)
    return history


def explained(history: Sequence[Operation]) -> bool:
    """The definition, tried with every order and every choice of lost operations."""
    lost = [one for one in history if one.answer is Answer.LOST]
    certain = [one for one in history if one.answer is not Answer.LOST]
    for choice in range(1 << len(lost)):
        chosen = [*certain, *(one for place, one in enumerate(lost) if choice >> place & 1)]
        if any(_fits(order) for order in permutations(chosen)):
            return True
    return False


def _fits(order: Sequence[Operation]) -> bool:
    value: Value = None
    for place, one in enumerate(order):
        if any(later.ended < one.began for later in order[place + 1 :]):
            return False
        if not linearizability.is_possible(one, value):
            return False
        value = linearizability.effect(one, value)
    return True


@given(st.integers(0, 2**32), st.integers(0, 60))
@settings(deadline=None, max_examples=60)
def test_a_history_of_a_right_server_is_accepted(seed: int, count: int) -> None:
    assert linearizability.first_contradiction(executed(seed, count)) == ()


@pytest.mark.parametrize("seed", range(5))
def test_a_history_in_which_most_answers_were_lost_is_accepted(seed: int) -> None:
    assert linearizability.is_linearizable(executed(seed, 500, lost=0.6))


@given(st.integers(0, 2**32), st.sampled_from([0.1, 0.6]), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=200)
def test_it_agrees_with_the_definition_on_histories_with_a_mistake(
    seed: int, lost: float, chance: random.Random
) -> None:
    history = executed(seed, 5, lost=lost)
    place = chance.randrange(len(history))
    answer = chance.choice(list(Answer))
    ended = float("inf") if answer is Answer.LOST else place + chance.random() * 3
    history[place] = replace(history[place], answer=answer, ended=ended, seen=chance.choice([None, "v0", "v1", "v2"]))

    assert linearizability.is_linearizable(history) == explained(history)


@pytest.mark.parametrize(
    "wrong",
    [
        [Operation(Action.READ, Answer.OK, 2, 3)],
        [Operation(Action.CREATE, Answer.OK, 2, 3, "b")],
        [Operation(Action.UPDATE, Answer.OK, 2, 3, "b", seen="x")],
        [Operation(Action.DELETE, Answer.NOT_FOUND, 2, 3)],
        [Operation(Action.DELETE, Answer.OK, 2, 3), Operation(Action.READ, Answer.OK, 4, 5, seen="a")],
    ],
    ids=["stale read", "created twice", "lost update", "lost object", "deleted object comes back"],
)
def test_a_broken_promise_is_found(wrong: Sequence[Operation]) -> None:
    history = [Operation(Action.CREATE, Answer.OK, 0, 1, "a"), *wrong]

    assert linearizability.first_contradiction(history) == history


def test_a_lost_write_may_have_happened_or_not() -> None:
    lost = Operation(Action.CREATE, Answer.LOST, 0, written="a")
    for seen in (None, "a"):
        assert linearizability.is_linearizable([lost, Operation(Action.READ, Answer.OK, 5, 6, seen=seen)])
    unread = [Operation(Action.READ, Answer.OK, 5, 6, seen="a"), Operation(Action.READ, Answer.OK, 7, 8)]
    assert not linearizability.is_linearizable([lost, *unread])

"""The states of a watch on etcd: what follows what, and what cannot happen."""

import pytest

from aio_apiserver.storage.kv.etcd.watch_states import (
    TRANSITIONS,
    UnexpectedInput,
    WatchInput,
    WatchState,
    next_state,
)


def test_a_watch_is_requested_opens_and_ends() -> None:
    state = WatchState.REQUESTED
    for happened in (WatchInput.CREATED, WatchInput.EVENTS, WatchInput.PROGRESS, WatchInput.LEFT):
        state = next_state(state, happened)

    assert state is WatchState.ENDED


def test_events_before_the_creation_are_a_defect() -> None:
    with pytest.raises(UnexpectedInput, match="a watch that is requested cannot be events"):
        next_state(WatchState.REQUESTED, WatchInput.EVENTS)


def test_an_ended_watch_takes_no_input() -> None:
    assert not any(state is WatchState.ENDED for state, _ in TRANSITIONS)


def test_every_state_but_the_first_is_reached_and_every_input_is_used() -> None:
    assert set(TRANSITIONS.values()) == {WatchState.OPEN, WatchState.ENDED}
    assert {happened for _, happened in TRANSITIONS} == set(WatchInput)

"""State: scopes, key order and the trigger index."""

import pytest

from aio_apiserver.storage.cacher.state import MOST_LABELS, WORTH_AN_INDEX, State
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.cacher.objects import Decodings, broken, stored


def state_of(*objects: StoredObject) -> State:
    state = State()
    state.replace(objects)
    return state


def keys(objects: object) -> list[str]:
    assert isinstance(objects, list | tuple)
    return [item.key for item in objects]


def having(state: State, color: str, scope: str = "") -> list[str]:
    return keys(state.having("spec.color", color, scope=scope))


def test_everything_comes_in_key_order() -> None:
    state = state_of(stored("b/a", 1), stored("a-1/a", 2), stored("a/b", 3))
    state.put(stored("a/a", 4))

    assert keys(state.within("")) == ["a-1/a", "a/a", "a/b", "b/a"]


def test_a_namespace_has_its_own_objects_only() -> None:
    state = state_of(*(stored(key, 1) for key in ("a/a", "a/b", "a-1/a", "a0/a", "aa/a")))

    assert keys(state.within("a/")) == ["a/a", "a/b"]
    assert keys(state.within("none/")) == []


def test_a_key_is_that_one_object() -> None:
    state = state_of(stored("a/a", 1), stored("a/ab", 1))

    assert keys(state.within("a/a")) == ["a/a"]
    assert keys(state.within("a/b")) == []


def test_put_and_remove_tell_what_was_there() -> None:
    first, second = stored("a/a", 1), stored("a/a", 2)
    state = state_of()

    assert state.put(first) is None
    assert state.put(second) is first
    assert state.get("a/a") is second
    assert state.remove("a/a") is second
    assert state.remove("a/a") is None
    assert len(state) == 0


def test_what_was_handed_out_stays_as_it_was() -> None:
    state = state_of(stored("a/a", 1))
    before = state.within("")

    state.put(stored("a/b", 2))
    state.remove("a/a")

    assert keys(before) == ["a/a"]
    assert keys(state.within("")) == ["a/b"]


def test_readers_of_one_state_share_its_list() -> None:
    state = state_of(stored("a/a", 1))

    assert state.within("") is state.within("")


def test_the_index_finds_objects_by_their_field() -> None:
    state = state_of(stored("b/b", 1, color="red"), stored("a/a", 2, color="red"), stored("a/b", 3, color="blue"))

    assert having(state, "red") == ["a/a", "b/b"]
    assert having(state, "red", "b/") == ["b/b"]
    assert having(state, "green") == []


def test_the_index_follows_changes() -> None:
    state = state_of(stored("a/a", 1, color="red"), stored("a/b", 2, color="red"))
    having(state, "red")

    state.put(stored("a/a", 3, color="blue"))
    state.remove("a/b")
    state.put(stored("a/c", 4, color="red"))

    assert having(state, "red") == ["a/c"]
    assert having(state, "blue") == ["a/a"]


def test_the_index_of_a_replaced_state_starts_over() -> None:
    state = state_of(stored("a/a", 1, color="red"))
    having(state, "red")

    state.replace([stored("a/b", 2, color="red")])

    assert having(state, "red") == ["a/b"]


def test_a_change_is_not_decoded_for_the_index_before_somebody_asks() -> None:
    decodings = Decodings()
    state = state_of(stored("a/a", 1, color="red", reader=decodings.reader))
    having(state, "red")

    state.put(stored("a/b", 2, color="red", reader=decodings.reader))

    assert decodings.count == 1
    assert keys(state.unread("spec.color")) == ["a/b"]
    assert having(state, "red") == ["a/a", "a/b"]
    assert decodings.count == 2
    assert state.unread("spec.color") == []


def test_an_index_that_nobody_asks_any_more_does_not_grow() -> None:
    state = state_of(stored("a/a", 1, color="red"))
    having(state, "red")

    for number in range(2_000):
        state.put(stored(f"a/x{number}", number))
        state.remove(f"a/x{number}")

    assert len(state.unread("spec.color")) <= len(state)
    assert having(state, "red") == ["a/a"]


def test_an_index_cannot_answer_for_what_it_cannot_read() -> None:
    state = state_of(stored("a/a", 1, color="red"), broken("a/b", 2))

    for _ in range(2):
        with pytest.raises(Corrupt):
            having(state, "red")
    state.put(stored("a/b", 3, color="red"))

    assert having(state, "red") == ["a/a", "a/b"]


MANY = WORTH_AN_INDEX + 10


def many() -> State:
    """Objects a/0000, a/0001 ...: one in ten is of the team red, the others are blue."""
    return state_of(
        *(
            stored(f"a/{number:04}", 1, labels={"team": "blue" if number % 10 else "red"}, reader=Decodings().reader)
            for number in range(MANY)
        )
    )


def labelled(state: State, *teams: str, scope: str = "") -> list[str] | None:
    state.index_of_label("team", scope=scope)
    found = state.labelled("team", teams, scope=scope)
    return None if found is None else keys(found)


@pytest.mark.parametrize("scope", ["", "a/", "a/b", "a/none", "none/"])
def test_a_span_is_the_scope(scope: str) -> None:
    state = state_of(*(stored(key, 1) for key in ("a-1/a", "a/a", "a/b", "a/bb", "b/a")))

    span = state.span(scope)

    assert [item.key for item in span] == keys(state.within(scope)) == [item.key for item in span[:]]
    assert len(span) == len(state.within(scope))
    assert [item.key for item in span[1:2]] == keys(state.within(scope))[1:2]
    assert not span or span[-1].key == keys(state.within(scope))[-1]


def test_a_copy_of_a_span_stays_as_it_was() -> None:
    state = state_of(stored("a/a", 1), stored("a/b", 1))
    copy = state.span("a/")[:]

    state.put(stored("a/0", 2))

    assert [item.key for item in copy] == ["a/a", "a/b"]


def test_few_objects_with_a_label_are_found_by_its_index() -> None:
    state = many()

    found = labelled(state, "red")

    assert found == [f"a/{number:04}" for number in range(0, MANY, 10)]
    assert labelled(state, "red", "none", scope="a/") == found


def test_the_index_of_a_label_follows_changes() -> None:
    state = many()
    labelled(state, "red")

    state.put(stored("a/0000", 2, labels={"team": "blue"}))
    state.put(stored("a/0001", 3, labels={"team": "red"}))
    state.remove("a/0010")

    found = labelled(state, "red")
    assert found is not None
    assert found[:2] == ["a/0001", "a/0020"]


def test_what_most_objects_have_needs_no_index() -> None:
    assert labelled(many(), "blue") is None
    assert labelled(many(), "red", "blue") is None


def test_few_objects_need_no_index() -> None:
    state = many()

    assert labelled(state, "red", scope="b/") is None
    assert state.index_of_label("team", scope="b/") is None


def test_only_the_labels_that_were_used_last_have_an_index() -> None:
    state = many()
    first = state.index_of_label("team", scope="")

    for number in range(MOST_LABELS - 1):
        state.index_of_label(f"other-{number}", scope="")
    assert state.index_of_label("team", scope="") is first

    for number in range(MOST_LABELS):
        state.index_of_label(f"other-{number}", scope="")
    assert state.index_of_label("team", scope="") is not first

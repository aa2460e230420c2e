"""SelectionPredicate: what each operator means, also for objects without the label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.storage.selection import EVERYTHING, Operator, Requirement, SelectionPredicate, compile_requirement
from aio_apiserver.storage.stored_object import Reader, StoredObject

READER = Reader(decode=lambda data: {}, fields=lambda obj: obj["fields"])


def stored(labels: dict[str, str] | None = None, fields: dict[str, str] | None = None) -> StoredObject:
    return StoredObject.of("a", 1, {"metadata": {"labels": labels}, "fields": fields or {}}, READER)


def required(operator: Operator, *values: str, name: str = "a") -> Requirement:
    return Requirement(name, operator, frozenset(values))


@pytest.mark.parametrize(
    ("requirement", "labels", "matches"),
    [
        (required(Operator.IN, "x"), {"a": "x"}, True),
        (required(Operator.IN, "x"), {"a": "y"}, False),
        (required(Operator.IN, "x"), {}, False),
        (required(Operator.IN, ""), {}, False),
        (required(Operator.IN, ""), {"a": ""}, True),
        (required(Operator.IN, "x", "y"), {"a": "y"}, True),
        (required(Operator.IN, "x", "y"), {"a": "z"}, False),
        (required(Operator.IN, "x", "y"), {}, False),
        (required(Operator.NOT_IN, "x"), {"a": "x"}, False),
        (required(Operator.NOT_IN, "x"), {"a": "y"}, True),
        (required(Operator.NOT_IN, "x"), {}, True),
        (required(Operator.NOT_IN, "x", "y"), {"a": "y"}, False),
        (required(Operator.NOT_IN, "x", "y"), {"b": "y"}, True),
        (required(Operator.EXISTS), {"a": ""}, True),
        (required(Operator.EXISTS), {"b": "a"}, False),
        (required(Operator.DOES_NOT_EXIST), {"a": ""}, False),
        (required(Operator.DOES_NOT_EXIST), {"b": "a"}, True),
        (required(Operator.GREATER, "5"), {"a": "6"}, True),
        (required(Operator.GREATER, "5"), {"a": "5"}, False),
        (required(Operator.GREATER, "5"), {"a": "10"}, True),
        (required(Operator.GREATER, "-5"), {"a": "-4"}, True),
        (required(Operator.GREATER, "5"), {}, False),
        (required(Operator.LESS, "5"), {"a": "4"}, True),
        (required(Operator.LESS, "5"), {"a": "5"}, False),
        (required(Operator.LESS, "10"), {"a": "9"}, True),
        (required(Operator.LESS, "5"), {"a": "-1"}, True),
        (required(Operator.LESS, "5"), {}, False),
    ],
)
def test_a_requirement_compares_as_its_operator_says(
    requirement: Requirement, labels: dict[str, str], matches: bool
) -> None:
    assert compile_requirement(requirement)(labels) is matches


@pytest.mark.parametrize("text", ["", "x", "1x", "1_0", " 7", "7 ", "7.0", "\u0667", "--7", "1" * 20, "9" * 5000])
def test_what_is_no_64_bit_number_is_neither_greater_nor_less(text: str) -> None:
    greater = compile_requirement(required(Operator.GREATER, "-100"))
    less = compile_requirement(required(Operator.LESS, "100"))

    assert not greater({"a": text})
    assert not less({"a": text})


def test_nothing_compares_with_a_bound_that_is_no_number() -> None:
    assert not compile_requirement(required(Operator.GREATER, "1_0"))({"a": "11"})


def test_all_requirements_must_hold() -> None:
    predicate = SelectionPredicate(
        labels=(required(Operator.IN, "x"), required(Operator.EXISTS, name="b")),
        fields=(required(Operator.IN, "node-1", name="spec.nodeName"),),
    )

    assert predicate.matches(stored({"a": "x", "b": ""}, {"spec.nodeName": "node-1"}))
    assert not predicate.matches(stored({"a": "x"}, {"spec.nodeName": "node-1"}))
    assert not predicate.matches(stored({"a": "x", "b": ""}, {"spec.nodeName": "node-2"}))


def test_an_object_without_labels_has_none() -> None:
    assert SelectionPredicate(labels=(required(Operator.DOES_NOT_EXIST),)).matches(stored(None))


def test_the_empty_predicate_selects_everything() -> None:
    assert EVERYTHING.is_everything
    assert EVERYTHING.matches(stored())
    assert not SelectionPredicate(labels=(required(Operator.EXISTS),)).is_everything
    assert not SelectionPredicate(fields=(required(Operator.EXISTS),)).is_everything


def test_predicates_with_the_same_requirements_are_one_key() -> None:
    one = SelectionPredicate(labels=(required(Operator.IN, "x", "y"),))
    same = SelectionPredicate(labels=(required(Operator.IN, "y", "x"),))
    other = SelectionPredicate(fields=(required(Operator.IN, "x", "y"),))
    one.matches(stored())

    assert len({one, same, other}) == 2


def test_the_value_of_a_field_is_known_when_only_one_is_allowed() -> None:
    predicate = SelectionPredicate(
        labels=(required(Operator.IN, "label", name="label"),),
        fields=(
            required(Operator.NOT_IN, "node-2", name="spec.nodeName"),
            required(Operator.IN, "node-1", name="spec.nodeName"),
            required(Operator.IN, "Running", "Pending", name="status.phase"),
        ),
    )

    assert predicate.field_value("spec.nodeName") == "node-1"
    assert predicate.field_value("status.phase") is None
    assert predicate.field_value("metadata.name") is None
    assert predicate.field_value("label") is None


NAMES = st.sampled_from(["a", "b"])
VALUES = st.sampled_from(["", "1", "2", "x"])
MAPS = st.dictionaries(NAMES, VALUES)
REQUIREMENTS = st.one_of(
    st.builds(Requirement, NAMES, st.sampled_from([Operator.IN, Operator.NOT_IN]), st.frozensets(VALUES, min_size=1)),
    st.builds(Requirement, NAMES, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
    st.builds(
        Requirement,
        NAMES,
        st.sampled_from([Operator.GREATER, Operator.LESS]),
        st.sampled_from(["0", "1", "2"]).map(lambda value: frozenset([value])),
    ),
)


@given(
    labels=st.lists(REQUIREMENTS, max_size=3),
    fields=st.lists(REQUIREMENTS, max_size=3),
    objects=st.lists(st.builds(stored, MAPS, MAPS), max_size=8),
)
def test_selecting_from_a_list_is_matching_one_by_one(
    labels: list[Requirement], fields: list[Requirement], objects: list[StoredObject]
) -> None:
    predicate = SelectionPredicate(tuple(labels), tuple(fields))

    assert list(predicate.select(objects)) == [each for each in objects if predicate.matches(each)]

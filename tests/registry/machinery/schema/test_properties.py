"""What holds for every input, however odd."""

import math
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import Decoded, DecodeError, ObjectType
from aio_apiserver.registry.machinery.schema.model import Kind, Node

KINDS = [
    schema.builtin().type_for(*names)
    for names in [
        ("", "v1", "Pod"),
        ("", "v1", "Secret"),
        ("apps", "v1", "Deployment"),
        ("coordination.k8s.io", "v1", "Lease"),
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
        ("resource.k8s.io", "v1", "ResourceSlice"),
    ]
]

odd_text = st.text(st.characters(codec=None), max_size=8) | st.sampled_from(
    ["", "1", "1Gi", "2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000001+01:00", "QQ==", "true", "\ud800"]
)
odd_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**31, 2**63, -(2**63), 10**400])
    | st.floats()
    | odd_text
)
odd_json = st.recursive(
    odd_scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(odd_text, inner, max_size=3),
    max_leaves=8,
)


def values(node: Node, depth: int = 6) -> st.SearchStrategy[Any]:
    """Mostly values of the node, with some that are not."""
    return st.one_of(_fitting(node, depth), _fitting(node, depth), _fitting(node, depth), odd_json)


def _fitting(node: Node, depth: int) -> st.SearchStrategy[Any]:
    if depth == 0:
        return odd_scalars
    if node.structure is not None:
        fields = list(node.structure.fields.values())
        chosen = st.lists(st.sampled_from(fields), max_size=4, unique=True) if fields else st.just([])
        return chosen.flatmap(
            lambda some: st.fixed_dictionaries({one.name: values(one.node, depth - 1) for one in some})
        )
    if node.kind is Kind.ONE_OF:
        return st.one_of([values(one, depth - 1) for one in node.alternatives])
    if node.items is not None:
        items = st.deferred(lambda: values(node.items, depth - 1))  # type: ignore[arg-type] # checked above
        return st.lists(items, max_size=2) if node.kind is Kind.LIST else st.dictionaries(odd_text, items, max_size=2)
    return _LEAVES.get(node.kind, odd_json)


_LEAVES = {
    Kind.STRING: odd_text,
    Kind.INTEGER: st.integers(-5, 5),
    Kind.BOOLEAN: st.booleans(),
    Kind.QUANTITY: st.sampled_from(["1", "1.5", "1Gi", "0", 3, 0.1]),
    Kind.TIME: st.sampled_from(["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.6+01:00", "0001-01-01T00:00:00Z"]),
    Kind.MICRO_TIME: st.sampled_from(["2024-01-02T03:04:05.123456Z", "0001-01-01T00:00:00.000000Z"]),
    Kind.BYTES: st.sampled_from(["", "QQ==", "QR==", [65]]),
    Kind.INT_OR_STRING: st.sampled_from([0, 1, "", "http"]),
}


def objects(kind: ObjectType) -> st.SearchStrategy[Any]:
    return _fitting(kind.node, 8)


any_object = st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(st.just(kind), objects(kind)))


def outcome(decode: Callable[[Any], Decoded], value: Any) -> Decoded | None:
    """The decoded value; None when it is refused. Anything but a DecodeError fails the test."""
    try:
        return decode(value)
    except DecodeError:
        return None


@given(any_object)
@settings(max_examples=150, deadline=None)
def test_nothing_but_a_decode_error_comes_of_decoding(drawn: tuple[ObjectType, Any]) -> None:
    kind, value = drawn

    for decode in (kind.decode, kind.convert):
        decoded = outcome(decode, value)
        if decoded is not None:
            kind.apply_defaults(decoded.obj)
            kind.canonical(decoded.obj)


@given(any_object)
@settings(max_examples=150, deadline=None)
def test_canonical_output_is_its_own_canonical_output(drawn: tuple[ObjectType, Any]) -> None:
    kind, value = drawn
    decoded = outcome(kind.decode, value)
    if decoded is None:
        return
    printed = kind.canonical(decoded.obj)

    assert _same(kind.canonical(kind.decode(printed).obj), printed)
    assert _same(kind.canonical(printed), printed)


def _same(one: Any, other: Any) -> bool:
    """Equal in values and in the order of keys; not-a-number is the same as itself."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return type(one) is type(other) and bool(one == other)


@given(any_object)
@settings(max_examples=100, deadline=None)
def test_the_text_changes_nothing_where_there_is_nothing_to_find(drawn: tuple[ObjectType, Any]) -> None:
    kind, value = drawn
    try:
        text = orjson.dumps(value)
        decoded = kind.decode(orjson.loads(text))
    except (TypeError, DecodeError):
        return

    assert kind.decode(orjson.loads(text), text=text).obj == decoded.obj
    assert kind.decode(orjson.loads(text), text=b" " + text.replace(b":", b" : ")).strict_errors is not None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.definition.rpartition(".")[2])
@pytest.mark.parametrize("make", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: {"spec": inner}])
def test_ten_thousand_levels_are_refused_or_taken(kind: ObjectType, make: Any) -> None:
    value: Any = "x"
    for _ in range(10_000):
        value = make(value)

    for name in [*(kind.node.structure.fields if kind.node.structure else ()), "unknown"]:
        for decode in (kind.decode, kind.convert):
            decoded = outcome(decode, {name: value})
            if decoded is not None:
                kind.canonical(decoded.obj)

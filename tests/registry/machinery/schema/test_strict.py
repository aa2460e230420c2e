"""Strict: duplicate fields, and numbers with their text."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import Decoded, DecodeError, ObjectType, strict

DEPLOYMENT = schema.builtin().type_for("apps", "v1", "Deployment")
CONFIG_MAP = schema.builtin().type_for("", "v1", "ConfigMap")
POD = schema.builtin().type_for("", "v1", "Pod")

text_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)


def decode(kind: ObjectType, text: str) -> Decoded:
    return kind.decode(orjson.loads(text), text=text.encode())


@given(st.dictionaries(st.text(), text_values, max_size=4))
@settings(max_examples=50, deadline=None)
def test_texts_without_duplicates_are_not_suspicious(value: dict[str, Any]) -> None:
    text = orjson.dumps(value)

    assert b"\\u003" in text or not strict.may_have_duplicates(text, orjson.loads(text))


@given(st.dictionaries(st.text(), st.dictionaries(st.text(), st.text(), max_size=3), max_size=4), st.booleans())
@settings(max_examples=50, deadline=None)
def test_no_field_of_a_text_is_missed_by_counting(value: dict[str, dict[str, str]], has_spaces: bool) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(", ", " : ") if has_spaces else None).encode()

    counted = strict.fields_in(text)

    assert counted == -1 or counted >= len(value) + sum(map(len, value.values()))


@pytest.mark.parametrize("text", ['{"a" :1,"a":2}', '{"a"\n:1}', r'{"a\":1}', '{"a":"\\":"}'])
def test_fields_that_are_not_counted_easily_are_not_counted(text: str) -> None:
    assert strict.fields_in(text.encode()) == -1


@pytest.mark.parametrize(
    "twice", ['"image":"a","image":"b"', '"env":[{"name":"a","name":"b"}]', '"name":"c","name":"c"']
)
def test_duplicates_beside_values_with_colons_are_found(twice: str) -> None:
    text = f'{{"metadata":{{"name":"x"}},"spec":{{"containers":[{{"name":":c","command":[":","a:"],{twice}}}]}}}}'

    assert "duplicate field" in decode(POD, text).strict_errors[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":1}',
        '{"a":{"b":1,"b":2}}',
        '[{"a":1 , "a" : 2}]',
        r'{"a":":","\u0061":"\u003A"}',
        r'{"a":"\u003a","a":"x"}',
        r'{"a":"\u003a\u003a","a":":"}',
    ],
)
def test_texts_with_duplicates_always_are(text: str) -> None:
    assert strict.may_have_duplicates(text.encode(), orjson.loads(text))


def test_duplicate_and_unknown_fields_come_in_the_order_of_the_text() -> None:
    decoded = decode(
        DEPLOYMENT,
        '{"metadata":{"name":"x","name":"y","odd":1},"spec":{"u":1,"paused":true,"paused":false,'
        '"template":{"spec":{"containers":[{"name":"a"},{"name":"c","what":{"x":1,"x":2},"image":"i","image":"j"}]}}}}',
    )

    assert decoded.strict_errors == (
        'duplicate field "metadata.name"',
        'unknown field "metadata.odd"',
        'unknown field "spec.u"',
        'duplicate field "spec.paused"',
        'unknown field "spec.template.spec.containers[1].what"',
        'duplicate field "spec.template.spec.containers[1].image"',
    )
    assert decoded.obj["metadata"] == {"name": "y"}
    assert decoded.obj["spec"]["template"]["spec"]["containers"][1] == {"name": "c", "image": "j"}


def test_a_field_that_comes_three_times_is_reported_once() -> None:
    decoded = decode(CONFIG_MAP, '{"data":{"a":"1","a":"2","a":"3"},"x":1,"x":2}')

    assert decoded.strict_errors == ('duplicate field "data.a"', 'unknown field "x"')
    assert decoded.obj == {"data": {"a": "3"}}


def test_repeated_objects_maps_and_lists_are_merged_as_go_does() -> None:
    decoded = decode(
        POD,
        '{"metadata":{"name":"a"},"metadata":{"labels":{"x":"1"}},"metadata":{"labels":{"y":"2"}},'
        '"spec":{"containers":[{"name":"a"},{"name":"b"}]},"spec":{"containers":[{"image":"i"}]}}',
    )

    assert decoded.obj == {
        "metadata": {"name": "a", "labels": {"x": "1", "y": "2"}},
        "spec": {"containers": [{"name": "a", "image": "i"}]},
    }


def test_null_takes_back_what_a_pointer_or_map_was_and_nothing_else() -> None:
    decoded = decode(
        DEPLOYMENT,
        '{"metadata":{"name":"a","labels":{"x":"1"}},"spec":{"replicas":1,"replicas":null,"paused":true,"paused":null},'
        '"metadata":{"name":null,"labels":null}}',
    )

    assert decoded.obj == {"metadata": {"name": "a"}, "spec": {"paused": True}}


def test_nothing_is_reported_within_free_json() -> None:
    revision = schema.builtin().type_for("apps", "v1", "ControllerRevision")

    decoded = decode(revision, '{"data":{"a":1,"a":{"b":1.50}},"revision":1}')

    assert decoded == Decoded({"data": {"a": {"b": 1.5}}, "revision": 1})


def test_no_more_than_a_hundred_errors_are_reported() -> None:
    fields = ",".join(f'"k{index}":"a","k{index}":"b"' for index in range(1000))

    assert len(decode(CONFIG_MAP, f'{{"data":{{{fields}}}}}').strict_errors) == 100


@pytest.mark.parametrize("number", ["1.50", "1e3", "80.0", "99999999999999999999", "-0.0"])
def test_messages_quote_numbers_as_they_are_written(number: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        decode(DEPLOYMENT, f'{{"spec":{{"replicas":{number}}}}}')

    assert f"cannot unmarshal number {number} into" in refusal.value.message


def test_quantities_remember_how_a_number_was_written() -> None:
    revision = '{"spec":{"containers":[{"resources":{"limits":{"cpu":1e3,"memory":1000.0}}}]}}'

    decoded = decode(POD, revision)

    assert decoded.obj["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1e3", "memory": "1k"}


def test_what_nests_too_deeply_is_refused() -> None:
    text = '{"data":' + "[" * 1000 + "]" * 1000 + ',"data":1}'

    with pytest.raises(DecodeError):
        decode(CONFIG_MAP, text)

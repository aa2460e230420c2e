"""JSON that is sent as YAML."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.registry.machinery.serializers import yaml, yaml_json

_TEXTS = st.text(max_size=6) | st.sampled_from(
    ["<<", "a: b", "yes", "null", "#", "1:30", "\u2028", "\x85", "\x7f", "'", "-"]
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**65)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(_TEXTS, _VALUES, max_size=3), st.booleans(), st.sampled_from([None, 2]))
def test_what_is_read_as_json_is_what_yaml_reads(value: Any, is_ascii: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent).encode(errors="replace")

    fast = yaml_json.read(text)

    if fast is not None:
        assert json.dumps(fast) == json.dumps(yaml.composed(text).value)


def test_the_keys_come_sorted() -> None:
    assert json.dumps(yaml_json.read(b'{"b":1,"a":{"d":[],"c":null}}')) == '{"a": {"c": null, "d": []}, "b": 1}'


@pytest.mark.parametrize(
    "text",
    [
        b"a: 1",
        b"[]",
        b'{"a":1,"a":2}',
        b'{"a":1.0}',
        b'{"a":"\\u0041"}',
        b'{"<<":{"a":1}}',
        b'{"a":\t1}',
        b'{"a":1} # one',
        b'{"%s":1}' % (b"a" * 1025),
        b'{"a":' * 300 + b"1" + b"}" * 300,
    ],
)
def test_what_may_mean_something_else_is_left_to_yaml(text: bytes) -> None:
    assert yaml_json.read(text) is None

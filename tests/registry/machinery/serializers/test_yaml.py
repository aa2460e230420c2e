import re

import orjson
import pytest

from aio_apiserver.registry.machinery.serializers import yaml, yaml_limits

BOMB = b"a: &a [%b]\n" % (b"x," * 9) + b"".join(
    b"%c: &%c [%b]\n" % (char, char, b"*%c," % (char - 1) * 9) for char in b"bcdefghi"
)
"""Nine short lines that expand to some hundred million values."""


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain text", "plain text"),
        ("", '""'),
        ("n", '"n"'),
        ("2", '"2"'),
        ("0x1F", '"0x1F"'),
        ("1e3", '"1e3"'),
        ("1:30", '"1:30"'),
        ("2024-01-02T03:04:05Z", '"2024-01-02T03:04:05Z"'),
        ("2024-99-02", "2024-99-02"),
        ("1.2.3", "1.2.3"),
        ("a: b", "'a: b'"),
        (" led", "' led'"),
        ("é", "é"),
        (None, "null"),
        (True, "true"),
        (2.0, "2"),
        (0.5, "0.5"),
        (1e22, "1e+22"),
        ({}, "{}"),
        ([], "[]"),
    ],
)
def test_values_are_quoted_as_go_quotes_them(value: object, written: str) -> None:
    document = yaml.dump({"v": value})

    assert document.decode() == f"v: {written}\n"


def test_lists_are_not_indented_and_texts_of_many_lines_are_literal() -> None:
    document = yaml.dump({"items": [{"b": "x", "a": 1}], "text": "one\ntwo\n"})

    assert document.decode() == "items:\n- a: 1\n  b: x\ntext: |\n  one\n  two\n"


def test_long_texts_are_folded() -> None:
    document = yaml.dump({"message": " ".join(["word"] * 20)})

    assert document.decode() == f"message: {' '.join(['word'] * 15)}\n  {' '.join(['word'] * 5)}\n"


def test_keys_stand_in_the_order_of_people() -> None:
    keys = ["z10", "z9", "Z", "a", "f:a", ".", "z", "z-1", "v01", "v1", "a0"]

    document = yaml.dump(dict.fromkeys(keys, 1))

    order = [line.partition(": 1")[0].strip('"') for line in document.decode().splitlines()]
    assert order == [".", "Z", "a", "a0", "f:a", "v1", "v01", "z", "z-1", "z9", "z10"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y", True),
        ("off", False),
        ("~", None),
        ("1:30", "1:30"),
        ("010", 8),
        ("0o17", 15),
        ("-0x1f", -31),
        ("0b11", 3),
        ("1_000", 1000),
        ("1.0", 1),
        ("1e3", 1000),
        (".5", 0.5),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
        ("2024-01-02", "2024-01-02"),
        ("'1'", "1"),
        ('"y"', "y"),
        ("1.2.3", "1.2.3"),
        ("1e400", "1e400"),
        ("<<", "<<"),
        ("!!binary aGk=", "hi"),
        ("!!binary /w==", "\ufffd"),
        ("!!float 1", 1),
        ("!!int '1'", 1),
        ("!!str 1", "1"),
        ("!odd x", "x"),
        ("!!timestamp 2024-01-02", "2024-01-02"),
        ("!!set {x}", {"x": None}),
        ("!!omap [x: 1]", [{"x": 1}]),
        ("!!map [x]", ["x"]),
        ("!!int {x: 1}", {"x": 1}),
    ],
)
def test_scalars_are_read_as_go_reads_them(text: str, value: object) -> None:
    document = yaml.read(f"v: {text}\n".encode())

    assert document.value == {"v": value}
    assert orjson.loads(document.json) == document.value


def test_keys_become_sorted_text() -> None:
    document = yaml.read(b"z: 1\n2: a\ntrue: b\n")

    assert document.json == b'{"2":"a","true":"b","z":1}'


def test_duplicate_keys_are_told_and_the_last_one_counts() -> None:
    document = yaml.read(b"a: 1\na: 2\n")

    assert document.json == b'{"a":2}'
    assert document.strict_errors == ('yaml: unmarshal errors:\n  line 2: key "a" already set in map',)


def test_only_the_first_document_counts() -> None:
    document = yaml.read(b"a: 1\n---\nb: 2\n")

    assert document.json == b'{"a":1}'


@pytest.mark.parametrize(
    "text",
    [
        b"a: [",
        b"\xff\xfe\x00",
        b"? {}\n: 1",
        b"[" * (yaml_limits.MAX_DEPTH + 1),
        b"a: &a [*a]",
        BOMB,
        b"a: .inf",
    ],
)
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        yaml.read(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"a: [.inf]", "json: unsupported value: +Inf"),
        (b"b: .nan\na: -.inf", "json: unsupported value: -Inf"),
        (b"a: !!binary x", "yaml: !!binary value contains invalid base64 data"),
        (b"a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
        (b"a: !!null 1", "yaml: cannot decode !!int `1` as a !!null"),
        (b"? [a]\n: b", 'yaml: invalid map key: []interface {}{"a"}'),
        (b"? {a: 1}\n: b", 'yaml: invalid map key: map[interface {}]interface {}{"a":1}'),
        (b"%YAML 1.2\n---\na: b", "yaml: found incompatible YAML document"),
    ],
)
def test_what_is_wrong_is_told_in_words_of_go(text: bytes, why: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(why) + "$"):
        yaml.read(text)


def test_what_stands_behind_the_first_document_is_not_looked_at() -> None:
    assert yaml.read(b".inf: 1\n...\n%YAML 1.2\n---\na: [").json == b'{".inf":1}'


def test_many_aliases_to_little_are_read() -> None:
    document = yaml.read(b"a: &a 1\nb: [" + b"*a," * 5000 + b"]")

    assert orjson.loads(document.json)["b"] == [1] * 5000

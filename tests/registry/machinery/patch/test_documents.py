"""What strict decoding has against patches."""

import orjson
import pytest

from aio_apiserver.registry.machinery.patch import documents


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("null", ""),
        ("[]", ""),
        ("[null, {}]", ""),
        ('[{"op": null, "path": "/x", "value": [{}]}]', ""),
        ("{}", "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ("true", "json: cannot unmarshal bool into Go value of type []handlers.jsonPatchOp"),
        ('[{}, "x"]', "json: cannot unmarshal string into Go value of type handlers.jsonPatchOp"),
        ('[{"from": {}}]', "json: cannot unmarshal object into Go struct field jsonPatchOp.from of type string"),
        ('[{"op": 5}, 5]', "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"),
    ],
)
def test_a_strict_decoder_wants_operations(text: str, message: str) -> None:
    assert documents.operations_mismatch(orjson.loads(text), is_strict=True) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"op": 5}]', ""),
        ("5", "json: cannot unmarshal number into Go value of type jsonpatch.Patch"),
        ("[[]]", "json: cannot unmarshal array into Go value of type jsonpatch.Operation"),
    ],
)
def test_a_lenient_decoder_wants_objects(text: str, message: str) -> None:
    assert documents.operations_mismatch(orjson.loads(text), is_strict=False) == message


def test_a_merge_patch_is_an_object_or_null() -> None:
    assert documents.object_mismatch({}) == documents.object_mismatch(None) == ""
    assert documents.object_mismatch([]).endswith("array into Go value of type map[string]interface {}")


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        (b'{"a": {"b": 1, "c": 2}}', []),
        (b'{"a": ":", "b": "\\u003a"}', []),
        (b'{"a": 1, "a": 2, "a": 3}', ['duplicate field "a"']),
        (b'{"s": {"l": [{"x": 1, "x": 2}], "l": []}}', ['duplicate field "s.l[0].x"', 'duplicate field "s.l"']),
    ],
)
def test_repeated_fields_are_found_wherever_they_are(text: bytes, errors: list[str]) -> None:
    assert documents.object_errors(text, orjson.loads(text)) == errors


def test_operations_tell_repeated_and_unknown_fields_in_order() -> None:
    text = b'[null, {"odd": 1, "op": "add", "value": {"a": 1, "a": 2}, "value": 2}]'

    found = documents.operations_errors(text, orjson.loads(text))

    assert found == [
        'json patch unknown field "[1].odd"',
        'json patch duplicate field "[1].value.a"',
        'json patch duplicate field "[1].value"',
    ]


def test_no_more_errors_are_told_than_go_counts() -> None:
    text = b"{" + b",".join(b'"k%d": 1, "k%d": 1' % (index, index) for index in range(200)) + b"}"

    assert len(documents.object_errors(text, orjson.loads(text))) == 100

"""Codec: objects read back unchanged, unreadable bytes raise an error, objects that are no JSON are refused."""

import math
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.storage import codec
from aio_apiserver.storage.codec import BY_MEDIA_TYPE, JSON, MSGPACK, Codec, Object
from aio_apiserver.storage.errors import NotStorable
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject

CODECS = pytest.mark.parametrize("by", [MSGPACK, JSON], ids=lambda by: str(by.media_type))

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(NAMES, children, max_size=4),
    max_leaves=20,
)
OBJECTS = st.builds(
    lambda metadata, rest: {**rest, "metadata": metadata},
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.dictionaries(NAMES, VALUES, max_size=4),
)


def nested(depth: int) -> Object:
    """An object in which dicts and lists nest this deeply."""
    value: Any = []
    for level in range(depth - 2):
        value = [value] if level % 2 else {"deeper": value}
    return {"metadata": {}, "spec": value}


@CODECS
@given(obj=OBJECTS)
def test_what_was_encoded_decodes_to_the_same(by: Codec, obj: Object) -> None:
    obj["metadata"].setdefault("resourceVersion", "")

    decoded = codec.decode(by.encode(obj))

    assert orjson.dumps(decoded) == orjson.dumps(obj)
    assert decoded == obj


def test_json_of_kube_apiserver_reads_with_the_resource_version_in_its_place() -> None:
    """kube-apiserver stores definitions and API services so, without a resource version."""
    typed = b'{"metadata":{"name":"a","uid":"u","creationTimestamp":"t"},"spec":{}}'
    custom = b'{"metadata":{"creationTimestamp":"t","name":"a","uid":"u"},"spec":{}}'

    assert list(codec.decode(typed)["metadata"]) == ["name", "uid", "resourceVersion", "creationTimestamp"]
    assert list(codec.decode(custom)["metadata"]) == ["creationTimestamp", "name", "resourceVersion", "uid"]


@CODECS
@given(obj=OBJECTS)
def test_the_bytes_name_their_codec(by: Codec, obj: Object) -> None:
    assert codec.codec_of(by.encode(obj)) is by


@CODECS
@given(obj=OBJECTS, data=st.data())
def test_a_truncated_value_is_refused(by: Codec, obj: Object, data: st.DataObject) -> None:
    encoded = by.encode(obj)
    length = data.draw(st.integers(0, len(encoded) - 1))

    with pytest.raises(ValueError, match=r"unknown magic|broken|not an object"):
        codec.decode(encoded[:length])


@CODECS
def test_bytes_behind_the_value_are_refused(by: Codec) -> None:
    with pytest.raises(ValueError, match="broken"):
        codec.decode(by.encode({"metadata": {}}) + b"\x01")


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"k8s\x00", b"k8s:enc:aescbc:v1:key:", b"aio\x00mq\x00", b"[]", b' {"metadata":{}}', b"\xff"]
)
def test_an_unknown_magic_is_refused(data: bytes) -> None:
    assert codec.codec_of(data) is None
    with pytest.raises(ValueError, match="unknown magic"):
        codec.decode(data)


@given(data=st.binary(max_size=64), magic=st.sampled_from([b"", b"{", MSGPACK.magic]))
def test_arbitrary_bytes_are_an_object_or_refused(data: bytes, magic: bytes) -> None:
    try:
        obj = codec.decode(magic + data)
    except ValueError:
        return

    assert isinstance(obj["metadata"], dict)


@CODECS
@pytest.mark.parametrize("value", [{}, {"kind": "Widget"}, {"metadata": None}, {"metadata": []}])
def test_what_has_no_metadata_is_no_object(by: Codec, value: Object) -> None:
    with pytest.raises(ValueError, match="not an object"):
        codec.decode(by.encode(value))


@pytest.mark.parametrize("value", [[], 7, None, "text"])
def test_what_is_no_dict_is_no_object(value: object) -> None:
    with pytest.raises(ValueError, match="not an object"):
        codec.decode(MSGPACK.magic + MSGPACK.pack(value))  # type: ignore[arg-type]


def test_keys_that_are_no_text_are_refused() -> None:
    with pytest.raises(ValueError, match="broken"):
        codec.decode(MSGPACK.magic + b"\x82\xa8metadata\x80\x01\x02")


def test_deeper_keys_that_are_no_text_are_not_shown() -> None:
    obj = codec.decode(MSGPACK.magic + b"\x82\xa8metadata\x80\xa4data\x81\x01\x02")

    with pytest.raises(NotStorable):
        codec.to_json(obj)


def test_json_may_end_with_a_line_end_as_kube_apiserver_writes_it() -> None:
    assert codec.decode(b'{"metadata":{"name":"a"}}\n') == {"metadata": {"name": "a", "resourceVersion": ""}}


def test_media_types_name_the_codecs() -> None:
    assert BY_MEDIA_TYPE == {"application/msgpack": MSGPACK, "application/json": JSON}


@CODECS
@pytest.mark.parametrize(
    "value",
    [2**64, -(2**63) - 1, 10**400, "\ud800", object(), {1, 2}],
    ids=["over 64 bits", "under 64 bits", "huge", "surrogate", "object", "set"],
)
def test_what_a_codec_cannot_write_is_not_storable(by: Codec, value: object) -> None:
    obj = {"metadata": {}, "spec": value}

    with pytest.raises(NotStorable, match=by.media_type):
        by.encode(obj)
    with pytest.raises(NotStorable):
        codec.to_json(obj)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [None, {"a": [math.nan]}], (1, math.inf)])
def test_a_number_that_is_none_is_not_storable(value: object) -> None:
    with pytest.raises(NotStorable, match="infinite number or NaN"):
        codec.to_json({"metadata": {}, "spec": value})


@pytest.mark.parametrize(
    "value", [b"bytes", {1: "a"}, {None: "a"}], ids=["bytes", "numbers as keys", "nothing as a key"]
)
def test_what_msgpack_could_write_and_json_cannot_show_is_not_storable(value: object) -> None:
    with pytest.raises(NotStorable, match="cannot be shown"):
        codec.to_json({"metadata": {}, "spec": value})


def test_null_itself_is_storable() -> None:
    assert codec.to_json({"metadata": {"creationTimestamp": None}, "spec": [None, 1.5]}) == (
        b'{"metadata":{"creationTimestamp":null},"spec":[null,1.5]}'
    )


@pytest.mark.parametrize("depth", [255, 300, 511, 512, 600, 1100, 5000, 200_000])
def test_an_object_that_nests_too_deeply_is_not_storable(depth: int) -> None:
    with pytest.raises(NotStorable):
        codec.to_json(nested(depth))


@CODECS
@pytest.mark.parametrize("depth", [2, 100, 200, 250, 253, 254])
def test_what_can_be_shown_can_be_written_and_read_back(by: Codec, depth: int) -> None:
    obj = nested(depth)
    shown = codec.to_json(obj)
    reader = ObjectReader(decode=codec.decode, fields=lambda obj: {})

    stored = StoredObject("a", 7, by.encode(obj), reader)

    assert stored.decode()["spec"] == obj["spec"]
    assert orjson.loads(shown) == obj


@CODECS
def test_a_codec_that_reads_back_what_it_writes_passes_its_check(by: Codec) -> None:
    codec.check(by, {"kind": "Pod", "apiVersion": "v1"})


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (Codec(JSON.media_type, JSON.magic, lambda _obj: b"{", JSON.unpack), "cannot be decoded"),
        (Codec(JSON.media_type, JSON.magic, lambda _obj: b'{"metadata":{}}', JSON.unpack), "does not read back"),
    ],
)
def test_a_codec_that_loses_what_it_writes_does_not_pass(broken: Codec, why: str) -> None:
    with pytest.raises(NotStorable, match=why):
        codec.check(broken, {"kind": "Pod"})

"""Stored object: what it shows, how often it is decoded, and unreadable bytes."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage import codec, versioner
from aio_apiserver.storage.codec import JSON, MSGPACK, Codec
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject


class CountingReader:
    """A reader that counts its decodings."""

    def __init__(self) -> None:
        self.decoded = 0
        self.reader = ObjectReader(decode=self._decode, fields=fields, resource="widgets")

    def _decode(self, data: bytes) -> Object:
        self.decoded += 1
        return codec.decode(data)


def fields(obj: Object) -> Mapping[str, str]:
    return {"metadata.name": obj["metadata"]["name"], "spec.color": obj["spec"]["color"]}


def widget(**metadata: Any) -> Object:
    return {"kind": "Widget", "metadata": {"name": "a", "uid": "u", **metadata}, "spec": {"color": "red"}}


def encoded(obj: Object, by: Codec = MSGPACK) -> bytes:
    versioner.clear_resource_version(obj)
    return by.encode(obj)


@pytest.fixture
def counting() -> CountingReader:
    return CountingReader()


@pytest.mark.parametrize("by", [MSGPACK, JSON])
def test_the_json_carries_the_revision_behind_the_uid(by: Codec, counting: CountingReader) -> None:
    stored = StoredObject("a", 7, encoded(widget(), by), counting.reader)

    assert stored.json == (
        b'{"kind":"Widget","metadata":{"name":"a","uid":"u","resourceVersion":"7"},"spec":{"color":"red"}}'
    )


def test_a_revision_inside_the_stored_bytes_does_not_show(counting: CountingReader) -> None:
    stored = StoredObject("a", 7, MSGPACK.encode(widget(resourceVersion="3")), counting.reader)

    assert stored.decode()["metadata"]["resourceVersion"] == "7"


def test_labels_and_fields_are_those_of_the_object(counting: CountingReader) -> None:
    stored = StoredObject("a", 7, encoded(widget(labels={"app": "x"})), counting.reader)

    assert stored.labels == {"app": "x"}
    assert stored.fields == {"metadata.name": "a", "spec.color": "red"}


@pytest.mark.parametrize("labels", [None, {}])
def test_an_object_without_labels_shows_none(labels: object, counting: CountingReader) -> None:
    stored = StoredObject("a", 7, encoded(widget(labels=labels)), counting.reader)

    assert stored.labels == {}


def test_nothing_is_decoded_until_somebody_looks(counting: CountingReader) -> None:
    stored = StoredObject("a", 7, b"broken", counting.reader)

    assert (stored.key, stored.revision, stored.is_stale) == ("a", 7, False)
    assert stored.unread is not None
    assert counting.decoded == 0


def test_the_stored_bytes_are_decoded_once(counting: CountingReader) -> None:
    stored = StoredObject("a", 7, encoded(widget()), counting.reader)

    stored.hydrate()
    stored.hydrate()
    looks = [(stored.json, stored.labels, stored.fields, stored.decode()) for _ in range(2)]

    assert looks[0] == looks[1]
    assert stored.unread is None
    assert counting.decoded == 1


def test_a_decoded_copy_belongs_to_its_caller(counting: CountingReader) -> None:
    stored = StoredObject("a", 7, encoded(widget(labels={"app": "x"})), counting.reader)

    copy = stored.decode()
    copy["metadata"]["labels"]["app"] = "changed"
    copy["spec"].clear()

    assert stored.labels == {"app": "x"}
    assert stored.decode()["spec"] == {"color": "red"}


def test_an_object_in_hand_is_shown_without_decoding(counting: CountingReader) -> None:
    obj = widget(labels={"app": "x"})

    stored = StoredObject.of("a", 7, obj, counting.reader)
    obj["metadata"]["labels"]["app"] = "changed later"

    assert stored.unread is None
    assert orjson.loads(stored.json) == widget(labels={"app": "x"}, resourceVersion="7")
    assert stored.labels == {"app": "x"}
    assert counting.decoded == 0


@pytest.mark.parametrize("is_hydrated", [True, False])
def test_a_deletion_shows_the_last_state_under_its_own_revision(is_hydrated: bool, counting: CountingReader) -> None:
    stored = StoredObject("a", 7, encoded(widget(labels={"app": "x"})), counting.reader, is_stale=True)
    if is_hydrated:
        stored.hydrate()

    deleted = stored.at_revision(9)

    assert (deleted.key, deleted.revision, deleted.is_stale) == ("a", 9, True)
    assert deleted.decode() == widget(labels={"app": "x"}, resourceVersion="9")
    assert (deleted.labels, deleted.fields) == (stored.labels, stored.fields)
    assert stored.decode()["metadata"]["resourceVersion"] == "7"
    assert deleted.json == stored.json.replace(b'"7"', b'"9"')


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"k8s\x00 protobuf",
        MSGPACK.encode(widget())[:-1],
        MSGPACK.magic,
        b"{",
        b'{"kind":"Widget"}',
        JSON.encode({"metadata": []}),
        JSON.encode({"metadata": {"labels": ["app"]}, "spec": {"color": "red"}}),
        JSON.encode({"metadata": {"labels": 5}, "spec": {"color": "red"}}),
        JSON.encode({"metadata": {"name": "a"}}),
        JSON.encode({"metadata": {"name": "a"}, "spec": None}),
        MSGPACK.encode({"metadata": {"name": "a"}, "spec": {"color": b"bytes"}}),
    ],
)
@pytest.mark.parametrize("look", ["json", "labels", "fields", "decode"])
def test_bytes_that_cannot_be_read_are_corrupt_whatever_one_looks_at(
    data: bytes, look: str, counting: CountingReader
) -> None:
    stored = StoredObject("default/a", 7, data, counting.reader)

    for _ in range(2):
        with pytest.raises(Corrupt, match="data of default/a cannot be read: widgets: ") as caught:
            stored.decode() if look == "decode" else getattr(stored, look)
        assert caught.value.key == "default/a"

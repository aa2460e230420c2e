"""Generated code writes and reads the same as the plain walker, for every type."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf import leaf_readers, octets
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import LENGTH, Malformed, delimited, tag
from aio_apiserver.registry.machinery.serializers.protobuf.messages import Messages
from tests.golden.recorded import recorded
from tests.registry.machinery.serializers import messages_of
from tests.registry.machinery.serializers.walker.messages import Messages as Walker

TYPES = builtin()
GENERATED, WALKER = Messages(TYPES), Walker(TYPES)
DEFINITIONS = messages_of.definitions(TYPES)
POD = "io.k8s.api.core.v1.Pod"
SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


def written(definition: str, value: dict[str, Any]) -> bytes:
    return octets.to_bytes(GENERATED.write(definition, octets.of_value(value)))


@pytest.mark.parametrize("value_of", [messages_of.full, lambda _definition, _types: {}])
def test_every_type_has_the_bytes_of_the_walker(value_of: Any) -> None:
    for definition in DEFINITIONS:
        value = value_of(definition, TYPES)

        assert written(definition, value) == WALKER.of(definition).write(value), definition


def test_every_type_reads_back_as_the_walker_reads_it() -> None:
    for definition in DEFINITIONS:
        data = WALKER.of(definition).write(messages_of.full(definition, TYPES))

        assert GENERATED.read(definition, data) == WALKER.of(definition).read(data), definition


def test_every_recorded_object_is_written_as_the_walker_does() -> None:
    assert sum(map(len, recorded().values())) > 1000
    for definition, objects in recorded().items():
        for obj in objects:
            assert written(definition, obj) == WALKER.of(definition).write(obj), obj


@given(st.data())
def test_any_value_is_written_and_read_as_the_walker_does(data: st.DataObject) -> None:
    definition = data.draw(st.sampled_from(DEFINITIONS))
    value = data.draw(messages_of.values(definition, TYPES))

    message = WALKER.of(definition).write(value)
    assert written(definition, value) == message
    assert GENERATED.read(definition, message) == WALKER.of(definition).read(message)


def outcome(read: Any, data: bytes) -> Any:
    try:
        return read(data)
    except Malformed as exc:
        return str(exc)


@given(st.data())
def test_damaged_bytes_are_read_or_refused_as_the_walker_does(data: st.DataObject) -> None:
    definition = data.draw(st.sampled_from([POD, SCHEMA, *DEFINITIONS]))
    message = bytearray(WALKER.of(definition).write(messages_of.full(definition, TYPES))[:4000] or b"\0")
    for _ in range(data.draw(st.integers(min_value=1, max_value=4))):
        message[data.draw(st.integers(min_value=0, max_value=len(message) - 1))] = data.draw(st.integers(0, 255))

    found = outcome(lambda data: GENERATED.read(definition, data), bytes(message))
    assert found == outcome(WALKER.of(definition).read, bytes(message))


@given(st.sampled_from([POD, SCHEMA]), st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_as_the_walker_does(definition: str, data: bytes) -> None:
    assert outcome(lambda found: GENERATED.read(definition, found), data) == outcome(WALKER.of(definition).read, data)


def test_a_message_within_too_many_others_is_refused() -> None:
    crd = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    message = b""
    for _ in range(5000):
        message = tag(28, LENGTH) + delimited(message)
    for number in (1, 4, 7, 2, 2):
        message = tag(number, LENGTH) + delimited(message)

    with pytest.raises(Malformed, match="too deep"):
        protobuf.to_value(b"k8s\0" + message, TYPES, crd)


def test_the_function_of_a_type_can_be_printed() -> None:
    port = "io.k8s.api.core.v1.ContainerPort"

    assert "def core_v1_ContainerPort(value):" in GENERATED.printed_writer(port)
    assert "value['containerPort'] = signed(number)" in GENERATED.printed_reader(port)


@given(
    st.sampled_from([read for name, read in leaf_readers.USED.items() if name in {"first", "time", "raw"}]),
    st.binary(max_size=6),
)
def test_a_leaf_is_read_or_refused(read: Any, data: bytes) -> None:
    with contextlib.suppress(Malformed, UnicodeDecodeError):
        read(data)


@given(st.binary(max_size=8))
def test_an_entry_is_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(Malformed, UnicodeDecodeError):
        key, value = leaf_readers.entry(b"\n" + data, bytes.decode)

        assert isinstance(key + value, str)

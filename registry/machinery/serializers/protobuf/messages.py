"""Messages: encodes and decodes Kubernetes' types in protobuf, with generated code.

A type's functions are made at their first use, from the same facts as its schema (registry/machinery/schema/wire.py).
They call the functions of the types in it by their names. `printed_writer` and `printed_reader` show the text of one.

Must hold: an unknown field is skipped; the written bytes are kube-apiserver's.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.registry.machinery.serializers.protobuf import (
    encoding,
    leaf_readers,
    leaf_writers,
    octets,
    reader_source,
    writer_source,
)
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import Malformed
from aio_apiserver.registry.machinery.serializers.protobuf.message_members import Embedded, Member, members_of

_ROOT = re.compile(r"^io\.k8s\.(api|apimachinery\.pkg\.apis)\.")
_NO_NAME = re.compile(r"\W")

Value = dict[str, Any]
_Source = Callable[[str, Sequence[Member | Embedded], Callable[[str], str]], str]

_TO_WRITE: Mapping[str, Any] = {"VARINTS": octets.VARINTS, **leaf_writers.USED}
_TO_READ: Mapping[str, Any] = {
    "Malformed": Malformed,
    "read_varint": encoding.read_varint,
    "read_number": encoding.read_number,
    "signed": encoding.signed,
    **leaf_readers.USED,
}


class _Functions:
    """One generated function a type. `known`: further names for generated code, beside the functions of other types."""

    def __init__(self, types: Catalog, source: _Source, known: Mapping[str, Any]) -> None:
        self._types = types
        self._source = source
        self._names: dict[str, Any] = dict(known)

    def of(self, definition: str) -> Callable[[Any], Any]:
        function: Callable[[Any], Any] = self._names[self._name(definition)]
        return function

    def printed(self, definition: str) -> str:
        return self._source(_name_of(definition), members_of(definition, self._types), self._name)

    def _name(self, definition: str) -> str:
        """The name of a function, which can be called from now on; the first call compiles it."""
        name = _name_of(definition)
        if name not in self._names:
            self._names[name] = lambda found: self._compiled(name, definition)(found)
        return name

    def _compiled(self, name: str, definition: str) -> Callable[[Any], Any]:
        code = compile(self.printed(definition), f"<protobuf of {name}>", "exec")
        exec(code, self._names)  # noqa: S102 - text of our own, made from tables
        return self.of(definition)


class Messages:
    """The messages of all types of one minor."""

    def __init__(self, types: Catalog) -> None:
        self._writers = _Functions(types, writer_source.source, _TO_WRITE)
        self._readers = _Functions(types, reader_source.source, _TO_READ)

    def write(self, definition: str, value: Mapping[str, Any]) -> str:
        """The octets of a value, whose texts are octets; members without a property are left out."""
        written: str = self._writers.of(definition)(value)
        return written

    def read(self, definition: str, data: bytes) -> Value:
        """The value in a message. Raises Malformed."""
        try:
            value: Value = self._readers.of(definition)(data)
        except UnicodeDecodeError as exc:
            raise Malformed("proto: string field contains invalid UTF-8") from exc
        except RecursionError:
            raise Malformed("proto: messages are nested too deep") from None
        return value

    def printed_writer(self, definition: str) -> str:
        """The text of the function that writes a definition's message, for debugging."""
        return self._writers.printed(definition)

    def printed_reader(self, definition: str) -> str:
        """The text of the function that reads it."""
        return self._readers.printed(definition)


def _name_of(definition: str) -> str:
    """`io.k8s.api.core.v1.Pod` is core_v1_Pod."""
    return _NO_NAME.sub("_", _ROOT.sub("", definition))

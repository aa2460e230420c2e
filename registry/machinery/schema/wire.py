"""Wire: the protobuf fields of Kubernetes' types, from wire.json, and the order of fields in kube-apiserver's JSON.

The messages list their fields in the order of the Go structs: the order of keys in kube-apiserver's JSON. They have a
field for each embedded struct, which JSON does not. wire.json has the messages of the .proto files, package by package.
It stays one file, since it is extracted as a whole. Knows no schema and no value.

Must hold: a property is found by its letters and digits alone, since some messages spell names differently (`uID`,
`xKubernetesListType`). Properties without a message field (other minors) come last, in alphabetical order.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

_FILE = Path(__file__).with_name("wire.json")
_NOT_LETTERS = re.compile(r"[^a-z0-9]")
_TYPE_META = ("kind", "apiVersion")


class WireField(Struct, frozen=True, array_like=True):
    """A field of a message. `type` is a scalar's name, `map<key,value>`, or a message's; `label` is optional or
    repeated.
    """

    number: int
    type: str
    label: str


class Place(Struct, frozen=True):
    """The position of a property in its Go struct: directly, or in the structs that are embedded in it."""

    name: str
    embedded_in: tuple[str, ...] = ()


def fields(definition: str) -> Mapping[str, WireField]:
    """The fields of a definition's message, by the message's own names; empty when it is never encoded."""
    package, _, message = definition.rpartition(".")
    raw = _messages().get(_package(package), {}).get(message)
    return {} if raw is None else _read_fields(raw)


def layout(definition: str, properties: Sequence[str]) -> list[Place]:
    """The properties of a definition in the order of its Go struct."""
    by_letters = {letters(name): name for name in properties}
    known = {place.name: place for place in _places(definition, by_letters, ())}
    head = [Place(name) for name in _TYPE_META if name in properties and name not in known]
    tail = [Place(name) for name in properties if name not in known and name not in _TYPE_META]
    return [*head, *known.values(), *tail]


def _places(definition: str, by_letters: Mapping[str, str], embedded_in: tuple[str, ...]) -> Iterator[Place]:
    for name, field in fields(definition).items():
        known = by_letters.get(letters(name))
        if known is not None:
            yield Place(known, embedded_in)
        elif is_embedded(name, field):
            struct = definition_of(definition, field.type)
            yield from _places(struct, by_letters, (*embedded_in, struct.rpartition(".")[2]))


def is_embedded(name: str, field: WireField) -> bool:
    """Whether a field without a property holds a struct whose fields are properties.

    An embedded struct's field has the name of its type, but for one that was renamed later.
    """
    return letters(name) == letters(field.type.rpartition(".")[2]) or field.type == "ProbeHandler"


def definition_of(user: str, message: str) -> str:
    """The definition of a field's type; a bare name is in the package of the message with the field."""
    if message.startswith("."):
        return "io.k8s." + message.removeprefix(".k8s.io.").replace("_", "-")
    return f"{user.rpartition('.')[0]}.{message}"


def _package(package: str) -> str:
    """`io.k8s.kube-aggregator.x` is `k8s.io.kube_aggregator.x` on the wire."""
    return "k8s.io." + package.removeprefix("io.k8s.").replace("-", "_")


def letters(name: str) -> str:
    return _NOT_LETTERS.sub("", name.lower())


@cache
def _messages() -> Mapping[str, Mapping[str, Raw]]:
    return msgspec.json.decode(_FILE.read_bytes(), type=dict[str, dict[str, Raw]])


_read_fields = msgspec.json.Decoder(dict[str, WireField]).decode

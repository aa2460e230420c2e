"""Wire: the fields of Kubernetes' Go structs, from wire.json: their protobuf numbers, and how JSON shows them.

The messages list their fields in the order of the Go structs: the order of keys in kube-apiserver's JSON. They have a
field for each embedded struct, which JSON does not. wire.json has the messages of the .proto files, package by package,
and is generated (scripts/upstream/tables/wire_fields.py). Knows no schema and no value.

Must hold: a property is found by its letters and digits alone, since some messages spell names differently (`uID`,
`xKubernetesListType`). Properties without a message field come last, in alphabetical order.
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
_PRINTED, _HIDES_ZERO, _POINTER = "!", "?", "*"
_MARKS = _PRINTED + _HIDES_ZERO + _POINTER


class WireField(Struct, frozen=True, array_like=True):
    """A field of a message. `type` is a scalar's name, `map<key,value>`, or a message's; `label` is optional or
    repeated.

    go: what Go's struct adds: `!` for a field that JSON has without a value, `?` for a zero struct that JSON leaves
    out, `*` for a pointer, then Go's name of the type where the message does not tell it.
    """

    number: int
    type: str
    label: str
    go: str = ""

    @property
    def go_type(self) -> str:
        """Go's name of the type (`[]v1.Capability`); empty where OpenAPI tells it."""
        return self.go.lstrip(_MARKS)

    @property
    def is_printed(self) -> bool:
        """Whether JSON has the field without a value: no `omitempty`."""
        return self.go.startswith(_PRINTED)

    @property
    def hides_zero(self) -> bool:
        """Whether JSON leaves out a struct that is zero: `omitzero`."""
        return self.go.startswith(_HIDES_ZERO)

    @property
    def is_pointer(self) -> bool:
        """Whether a missing value differs from the zero value. Has no meaning for lists, maps and bytes."""
        return _POINTER in self.go[: len(self.go) - len(self.go_type)]


class Place(Struct, frozen=True):
    """The position of a property in its Go struct: directly, or in the structs that are embedded in it.

    field: None for a property that no message has, such as those of version.Info.
    """

    name: str
    embedded_in: tuple[str, ...] = ()
    field: WireField | None = None


def fields(definition: str, minor: str = "") -> Mapping[str, WireField]:
    """The fields of a definition's message, by the message's own names; empty when it is never encoded.

    They are those of all minors. With a minor, each field is as this minor has it.
    """
    package, _, message = definition.rpartition(".")
    name = _package(package)
    raw = _messages().get(name, {}).get(message)
    if raw is None:
        return {}
    different = _different().get((name, minor), {}).get(message)
    return _read_fields(raw) if different is None else {**_read_fields(raw), **_read_fields(different)}


def layout(definition: str, properties: Sequence[str], minor: str = "") -> list[Place]:
    """The properties of a definition in the order of its Go struct."""
    by_letters = {letters(name): name for name in properties}
    known = {place.name: place for place in _places(definition, by_letters, (), minor)}
    head = [Place(name) for name in _TYPE_META if name in properties and name not in known]
    tail = [Place(name) for name in properties if name not in known and name not in _TYPE_META]
    return [*head, *known.values(), *tail]


def _places(
    definition: str, by_letters: Mapping[str, str], embedded_in: tuple[str, ...], minor: str
) -> Iterator[Place]:
    for name, field in fields(definition, minor).items():
        known = by_letters.get(letters(name))
        if known is not None:
            yield Place(known, embedded_in, field)
        elif is_embedded(name, field):
            struct = definition_of(definition, field.type)
            yield from _places(struct, by_letters, (*embedded_in, struct.rpartition(".")[2]), minor)


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


@cache
def _different() -> Mapping[tuple[str, str], Mapping[str, Raw]]:
    """The messages with fields that were different in a minor, by package and minor, with these fields alone.

    One package may have several rows of minors: `name@1.33` and `name@1.33,1.34`.
    """
    found: dict[tuple[str, str], Mapping[str, Raw]] = {}
    for key, messages in _messages().items():
        name, _, minors = key.partition("@")
        for minor in filter(None, minors.split(",")):
            found[name, minor] = {**found.get((name, minor), {}), **messages}
    return found


_read_fields = msgspec.json.Decoder(dict[str, WireField]).decode

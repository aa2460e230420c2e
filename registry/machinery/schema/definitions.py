"""Definitions: the OpenAPI definitions of built-in types by minor version, from the kubernetes-validate package.

The files add `null` to types and an `enum` to apiVersion and kind; `cleaned` removes both.

Must hold: a minor version is read once, at its first use, and a definition is decoded at its first use. The package is
found without an import, which would take longer than reading the files.
"""

import importlib.util
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import orjson
from msgspec import Raw, Struct

from aio_apiserver.registry.base import timeline
from aio_apiserver.registry.base.golang.decode_errors import UnknownMinor

DEFAULT_MINOR = timeline.text_of(timeline.DEFAULT)

Schema = Mapping[str, Any]
"""One OpenAPI schema, decoded."""

_PACKAGE = "kubernetes_validate"
_FOLDER = re.compile(r"v(1\.\d+)\.0-local")
_REFERENCE = "#/$defs/"


@cache
def minors() -> tuple[str, ...]:
    """The minor versions with definitions, oldest first."""
    found = (_FOLDER.fullmatch(folder.name) for folder in _root().iterdir())
    return tuple(sorted((match[1] for match in found if match), key=lambda minor: int(minor.partition(".")[2])))


def check(minor: str) -> None:
    """Raises UnknownMinor for a minor version without definitions."""
    if minor not in minors():
        raise UnknownMinor(
            f'the installed {_PACKAGE} has no definitions of Kubernetes {minor} (docs/minors.md, "The definitions")'
        )


class TypeMeta(Struct, frozen=True):
    """The group, version and kind of a definition."""

    group: str
    version: str
    kind: str


class Definitions(Mapping[str, Schema]):
    """All definitions of a minor version by name, as in the file."""

    def __init__(self, raw: Mapping[str, Raw]) -> None:
        self._raw = raw
        self._decoded: dict[str, Schema] = {}

    def __getitem__(self, name: str) -> Schema:
        known = self._decoded.get(name)
        if known is None:
            known = self._decoded[name] = orjson.loads(memoryview(self._raw[name]))
        return known

    def __contains__(self, name: object) -> bool:
        return name in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def by_type(self) -> Mapping[TypeMeta, str]:
        """The name of the definition of each kind."""
        read = msgspec.json.Decoder(_Kinds).decode
        return {one: name for name, raw in self._raw.items() for one in read(raw).types}


class _Kinds(Struct):
    types: tuple[TypeMeta, ...] = msgspec.field(default=(), name="x-kubernetes-group-version-kind")


class _File(Struct):
    definitions: dict[str, Raw] = msgspec.field(name="$defs")


@cache
def load(minor: str = DEFAULT_MINOR) -> Definitions:
    """The definitions of a minor version such as "1.36". Raises UnknownMinor."""
    return Definitions(msgspec.json.decode(_read(minor), type=_File).definitions)


@cache
def checksum(minor: str) -> str:
    """The CRC-32 of the definitions of a minor version, in hexadecimal digits. Raises UnknownMinor."""
    return f"{zlib.crc32(_read(minor)):08x}"


def cleaned(schema: Schema) -> Schema:
    """A definition as Kubernetes publishes it."""
    return {name: _CLEANERS.get(name, _as_is)(value) for name, value in schema.items() if name != "enum"}


def referenced(schema: Schema) -> str:
    """The name of the definition to which a schema refers; empty for other schemas."""
    reference: str = schema.get("$ref", "")
    return reference.removeprefix(_REFERENCE)


def _read(minor: str) -> bytes:
    check(minor)
    return (_root() / f"v{minor}.0-local" / "_definitions.json").read_bytes()


def _root() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise UnknownMinor(f"the {_PACKAGE} package is not installed")
    return Path(spec.submodule_search_locations[0]) / "kubernetes-json-schema"


def _without_null(types: Any) -> Any:
    if not isinstance(types, list):
        return types
    return next(one for one in types if one != "null")


def _each(schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
    return {name: cleaned(schema) for name, schema in schemas.items()}


def _as_is(value: Any) -> Any:
    return value


_CLEANERS: Mapping[str, Callable[[Any], Any]] = {
    "type": _without_null,
    "properties": _each,
    "items": cleaned,
    "additionalProperties": cleaned,
    "oneOf": lambda schemas: [cleaned(schema) for schema in schemas],
}

"""The OpenAPI definitions of Kubernetes' types, by minor, as the kubernetes-validate package carries them.

Must hold: nothing is read before it is asked for, a minor is read once, and of its definitions those are decoded that
somebody wants; the package is found without importing it, which would cost more than all the reading. The files add
`null` to types and an `enum` to apiVersion and kind; `cleaned` takes both out.
"""

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import orjson
from msgspec import Raw, Struct

from aio_apiserver.registry.base.golang.decode_errors import UnknownMinor

DEFAULT_MINOR = "1.36"

Schema = Mapping[str, Any]
"""One OpenAPI schema, decoded."""

_PACKAGE = "kubernetes_validate"
_FOLDER = re.compile(r"v(1\.\d+)\.0-local")
_REFERENCE = "#/$defs/"


@cache
def minors() -> tuple[str, ...]:
    """The minors that can be loaded, oldest first."""
    found = (_FOLDER.fullmatch(folder.name) for folder in _root().iterdir())
    return tuple(sorted((match[1] for match in found if match), key=lambda minor: int(minor.partition(".")[2])))


def check(minor: str) -> None:
    """Refuse a minor that cannot be loaded. Raises UnknownMinor."""
    if minor not in minors():
        raise UnknownMinor(f"no definitions of Kubernetes {minor} (there are {', '.join(minors())})")


class TypeMeta(Struct, frozen=True):
    """The group, version and kind that a definition is the type of."""

    group: str
    version: str
    kind: str


class Definitions(Mapping[str, Schema]):
    """All definitions of a minor by name, as they are in the file."""

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
        """The definition of each kind."""
        read = msgspec.json.Decoder(_Kinds).decode
        return {one: name for name, raw in self._raw.items() for one in read(raw).types}


class _Kinds(Struct):
    types: tuple[TypeMeta, ...] = msgspec.field(default=(), name="x-kubernetes-group-version-kind")


class _File(Struct):
    definitions: dict[str, Raw] = msgspec.field(name="$defs")


@cache
def load(minor: str = DEFAULT_MINOR) -> Definitions:
    """The definitions of a minor ("1.36"). Raises UnknownMinor."""
    check(minor)
    path = _root() / f"v{minor}.0-local" / "_definitions.json"
    return Definitions(msgspec.json.decode(path.read_bytes(), type=_File).definitions)


def cleaned(schema: Schema) -> Schema:
    """A definition as Kubernetes publishes it."""
    return {name: _CLEANERS.get(name, _as_is)(value) for name, value in schema.items() if name != "enum"}


def referenced(schema: Schema) -> str:
    """The name of the definition that a schema refers to; empty when it stands for itself."""
    reference: str = schema.get("$ref", "")
    return reference.removeprefix(_REFERENCE)


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

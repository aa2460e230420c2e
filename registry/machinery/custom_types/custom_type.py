"""Custom type: CustomType, the type of a custom resource in one version, with the interface of built-in types.

It decodes unstructured objects: any JSON, with metadata decoded as ObjectMeta, and pruned by the structural schema.

Must hold: canonical objects have sorted keys, as kube-apiserver prints them. Numbers without fraction are integers. The
schema is read at the first object.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP, DecodeError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.custom_types import structural_nodes
from aio_apiserver.registry.machinery.schema import depth, field_paths, strict
from aio_apiserver.registry.machinery.schema.catalog import Catalog, Decoded
from aio_apiserver.registry.machinery.schema.model import Schema, SchemaNode
from aio_apiserver.registry.machinery.schema.structural.metadata import MetadataType
from aio_apiserver.registry.machinery.schema.validation.values import Plans

if TYPE_CHECKING:
    from aio_apiserver.registry.machinery.schema.structural import defaulting, embedded, lists, pruning, rules
else:
    defaulting = Deferred("aio_apiserver.registry.machinery.schema.structural.defaulting")
    embedded = Deferred("aio_apiserver.registry.machinery.schema.structural.embedded")
    lists = Deferred("aio_apiserver.registry.machinery.schema.structural.lists")
    pruning = Deferred("aio_apiserver.registry.machinery.schema.structural.pruning")
    rules = Deferred("aio_apiserver.registry.machinery.schema.structural.rules")

_INT64 = range(-(2**63), 2**63)
_TOO_LARGE = 2**64
"""Larger whole numbers do not fit into storage."""
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


class CustomType:
    """A version of a custom resource. `read_schema` returns its schema or None. `prunes`: drops unknown fields."""

    def __init__(self, read_schema: Callable[[], Schema | None], types: Catalog, *, prunes: bool = True) -> None:
        self._read_schema = read_schema
        self._prunes = prunes
        self.metadata = MetadataType(types.type_of(_METADATA))
        self.plans: Plans = {}
        """Compiled validations of the schema."""

    @cached_property
    def schema(self) -> Schema | None:
        """The structural schema, with pruned defaults."""
        return self._read_schema()

    @cached_property
    def node(self) -> SchemaNode:
        """The schema as nodes, for merge and apply."""
        return structural_nodes.compiled(self.schema or {})

    def decode(self, value: Any, *, text: bytes = b"", text_of: Callable[[], bytes] | None = None) -> Decoded:
        """Decode the JSON of an object. Raises DecodeError. Numbers count as they are, however they were written."""
        try:
            return self._decoded(value, text)
        except RecursionError:
            raise DecodeError(TOO_DEEP) from None

    def restore(self, value: dict[str, Any]) -> dict[str, Any]:
        """Restore a stored object, without apiVersion and kind, for the present schema."""
        value["metadata"] = self.metadata.restore(value.get("metadata"))
        self._prune(value)
        self._drop_what_metadata_cannot_have(value)
        self.apply_defaults(value)
        return value

    def convert(self, value: Any) -> Decoded:
        """Decode the result of an apply. Keeps unknown fields and nulls, which validation reports."""
        try:
            obj = _own_with_plain_numbers(value)
        except RecursionError:
            raise DecodeError(TOO_DEEP) from None
        if "metadata" in obj:
            obj["metadata"] = self.metadata.decode(obj["metadata"]).obj
        return Decoded(obj)

    def coerce(self, value: dict[str, Any]) -> dict[str, Any]:
        """Prune a valid object of another version."""
        self._prune(value)
        return value

    def canonical(self, obj: dict[str, Any]) -> dict[str, Any]:
        """A copy with sorted keys, as the object is printed."""
        printed: dict[str, Any] = orjson.loads(orjson.dumps(obj, option=orjson.OPT_SORT_KEYS))
        return printed

    def apply_defaults(self, obj: dict[str, Any]) -> None:
        """Apply the schema's defaults in place. Defaults in embedded metadata are pruned."""
        if self._has_defaults:
            defaulting.apply_defaults(obj, self.schema)
            self._drop_what_metadata_cannot_have(obj)

    @cached_property
    def has_unique_lists(self) -> bool:
        return lists.has_unique_lists(self.schema)

    @cached_property
    def has_rules(self) -> bool:
        """Whether the schema has CEL rules."""
        return rules.has_rules(self.schema)

    @cached_property
    def _has_defaults(self) -> bool:
        return defaulting.has_defaults(self.schema)

    @cached_property
    def _has_embedded(self) -> bool:
        return embedded.has_embedded(self.schema)

    def _drop_what_metadata_cannot_have(self, obj: dict[str, Any]) -> None:
        if self._has_embedded:
            embedded.Coercion(self.metadata, is_lenient=True).coerce(obj, self.schema)

    def _decoded(self, value: Any, text: bytes) -> Decoded:
        strict_errors = _duplicates(text) if text and strict.may_have_duplicates(text, value) else []
        obj = _own_with_plain_numbers(value)
        if "metadata" in obj:
            metadata = self.metadata.decode(obj["metadata"])
            obj["metadata"] = metadata.obj
            paths = sorted(embedded.unknown_below("metadata", error) for error in metadata.strict_errors)
            strict_errors += map(_unknown, paths)
        strict_errors += map(_unknown, self._prune(obj))
        if self._has_embedded:
            strict_errors += map(_unknown, self._coerce_embedded(obj))
        return Decoded(obj, tuple(strict_errors))

    def _prune(self, obj: dict[str, Any]) -> list[str]:
        if not self._prunes:
            return []
        unknown = pruning.prune(obj, self.schema)
        pruning.drop_nulls(obj, self.schema)
        return unknown

    def _coerce_embedded(self, obj: dict[str, Any]) -> list[str]:
        coercion = embedded.Coercion(self.metadata)
        try:
            coercion.coerce(obj, self.schema)
        except embedded.MalformedResource as exc:
            raise DecodeError(str(exc)) from exc
        return sorted(coercion.unknown)


def _unknown(path: str) -> str:
    return f'unknown field "{path}"'


def _own_with_plain_numbers(value: Any) -> Any:
    """The same of an object. What owners have of its spec lies deeper in its metadata than it does in the spec."""
    if not isinstance(value, dict):
        return _with_plain_numbers(value)
    within_metadata = 1 + field_paths.MAX_DEPTH - depth.MOST
    return {key: _with_plain_numbers(item, within_metadata if key == "metadata" else 1) for key, item in value.items()}


def _with_plain_numbers(value: Any, level: int = 0) -> Any:
    """A copy in which a whole number is an integer, however it was written. Raises DecodeError for what is too deep."""
    if level > field_paths.MAX_DEPTH:
        raise DecodeError(TOO_DEEP)
    if isinstance(value, dict):
        return {key: _with_plain_numbers(item, level + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [item if type(item) is str else _with_plain_numbers(item, level + 1) for item in value]
    if isinstance(value, float):
        return _plain(value)
    return _plain(float(value)) if type(value) is int and value not in _INT64 else value


def _plain(value: float) -> int | float:
    """A float without fraction as an integer, with the shortest digits, as Go prints it."""
    is_storable = -_TOO_LARGE / 2 < value < _TOO_LARGE  # the shortest digits of -2**63 are those of a smaller integer
    return int(Decimal(repr(value))) if is_storable and value.is_integer() else value


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with all its keys."""


def _duplicates(text: bytes) -> list[str]:
    """The duplicate fields of a valid JSON text, in order."""
    found: dict[str, None] = {}
    _find_duplicates(json.loads(text, object_pairs_hook=_Pairs), "", found)
    return [f"duplicate field {quote(path)}" for path in found]


def _find_duplicates(value: Any, path: str, found: dict[str, None]) -> None:
    if isinstance(value, _Pairs):
        seen = set()
        for name, item in value:
            below = f"{path}.{name}" if path else name
            if name in seen:
                found[below] = None
            seen.add(name)
            _find_duplicates(item, below, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _find_duplicates(item, f"{path}[{index}]", found)

"""Resources within custom resources (x-kubernetes-embedded-resource): their types and metadata, coerced and checked."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation import names, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import members
from aio_apiserver.registry.machinery.schema.structural.metadata import MetadataType
from aio_apiserver.registry.machinery.schema.structural.plain import any_below

_NOT_A_STRING = "must be a string"
_NAMELESS = "fakename"
"""Stands in for the name that an embedded resource need not have."""


def has_embedded(schema: Any) -> bool:
    """Whether a schema has resources anywhere below it."""
    if not isinstance(schema, dict):
        return False
    if schema.get("x-kubernetes-embedded-resource"):
        return True
    return any_below(has_embedded, schema)


class Malformed(Exception):
    """An embedded resource whose type or metadata does not decode."""

    def __init__(self, error: FieldError) -> None:
        super().__init__(str(error))
        self.error = error


class Coercion(Struct):
    """Brings embedded metadata to its one form, in place, and collects what is unknown in it.

    is_lenient drops what does not decode instead of raising Malformed.
    """

    metadata: MetadataType
    is_lenient: bool = False
    unknown: list[str] = field(default_factory=list)

    def coerce(self, value: Any, schema: Schema | None, path: str = "") -> None:
        """Coerce all resources in a value at a path. Raises Malformed."""
        for resource, where in _resources(value, schema, path):
            self._coerce_type(resource, where)
            if "metadata" in resource:
                self._coerce_metadata(resource, where)

    def _coerce_type(self, resource: dict[str, Any], path: str) -> None:
        for name in ("apiVersion", "kind"):
            if name in resource and not isinstance(resource[name], str):
                if not self.is_lenient:
                    raise Malformed(fields.invalid(fields.child(path, name), resource[name], _NOT_A_STRING))
                del resource[name]

    def _coerce_metadata(self, resource: dict[str, Any], path: str) -> None:
        if self.is_lenient:
            if isinstance(resource["metadata"], dict):
                resource["metadata"] = self.metadata.decode_leniently(resource["metadata"])
            return
        where = fields.child(path, "metadata")
        try:
            decoded = self.metadata.decode(resource["metadata"])
        except DecodeError as exc:
            raise Malformed(fields.invalid(where, resource["metadata"], exc.message)) from exc
        resource["metadata"] = decoded.obj
        self.unknown += [unknown_below(where, error) for error in decoded.strict_errors]


def unknown_below(path: str, error: str) -> str:
    """The path of an unknown field of metadata, from what its decoder says of it."""
    return f"{path}.{error.partition(' field ')[2].strip(chr(34))}"


def validate_embedded(value: Any, schema: Schema | None, metadata: MetadataType, *, path: str = "") -> list[FieldError]:
    """What is wrong with the types and metadata of all resources in a value at a path."""
    found = []
    for resource, where in _resources(value, schema, path):
        found += _validate(resource, where, metadata)
    return found


def _resources(value: Any, schema: Schema | None, path: str) -> Iterator[tuple[dict[str, Any], str]]:
    if schema is None:
        return
    if isinstance(value, dict):
        if schema.get("x-kubernetes-embedded-resource"):
            yield value, path
        properties = schema.get("properties") or {}
        others = members.additional(schema)
        for name, item in value.items():
            if not isinstance(item, dict | list):
                continue
            if name in properties:
                yield from _resources(item, properties[name], fields.child(path, name))
            else:
                yield from _resources(item, others, f"{path}[{name}]")
    elif isinstance(value, list):
        below = members.of_items(schema)
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from _resources(item, below, f"{path}[{index}]")


def _validate(resource: dict[str, Any], path: str, metadata: MetadataType) -> list[FieldError]:
    found = [fields.required(fields.child(path, name)) for name in ("apiVersion", "kind") if name not in resource]
    for name in resource:
        match name:
            case "apiVersion":
                found += _validate_api_version(resource[name], fields.child(path, name))
            case "kind":
                found += _validate_kind(resource[name], fields.child(path, name))
            case "metadata":
                found += _validate_metadata(resource[name], fields.child(path, name), metadata)
    return found


def _validate_api_version(value: Any, path: str) -> list[FieldError]:
    if not isinstance(value, str):
        return [fields.invalid(path, value, _NOT_A_STRING)]
    if not value:
        return [fields.invalid(path, value, "must not be empty")]
    if value.count("/") > 1:
        return [fields.invalid(path, value, f"unexpected GroupVersion string: {value}")]
    return []


def _validate_kind(value: Any, path: str) -> list[FieldError]:
    if not isinstance(value, str):
        return [fields.invalid(path, value, _NOT_A_STRING)]
    if not value:
        return [fields.invalid(path, value, "must not be empty")]
    wrong = names.DNS1035_LABEL.check(value.lower())
    if not wrong:
        return []
    return [fields.invalid(path, value, f"may have mixed case, but should otherwise match: {','.join(wrong)}")]


def _validate_metadata(value: Any, path: str, metadata: MetadataType) -> list[FieldError]:
    try:
        decoded = metadata.decode(value).obj
    except DecodeError as exc:
        return [fields.invalid(path, value, exc.message)]
    named = {**decoded, "name": decoded.get("name") or _NAMELESS}
    is_namespaced = bool(named.get("namespace"))
    return object_meta.validate(named, is_namespaced=is_namespaced, check_name=names.is_path_segment, path=path)

"""Definitions: the definitions of built-in types in OpenAPI v2 and v3.

The definitions of kubernetes-validate lack the enums, and for version 3 the defaults. Most defaults follow from the Go
types: a struct has `{}`, and a field that is not a pointer has its zero value. The types.json of a group has the other
defaults and the enums (registry/base/type_facts.py).

Must hold: a definition is converted at its first use, for version 3 once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base import type_facts
from aio_apiserver.registry.base.timeline import DEFAULT, Version, text_of
from aio_apiserver.registry.machinery.openapi.routes import DELETE_OPTIONS, WATCH_EVENT
from aio_apiserver.registry.machinery.schema import definitions, wire
from aio_apiserver.registry.machinery.schema.definitions import Schema
from aio_apiserver.registry.machinery.schema.wire import WireField

_VERSION2_ROOT = "#/definitions/"
_VERSION3_ROOT = "#/components/schemas/"
_KINDS = "x-kubernetes-group-version-kind"
_CROSS_REGISTERED = (DELETE_OPTIONS, WATCH_EVENT)
_OF_SERVERS = {"admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"}
"""Groups whose kinds client-go does not register."""
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_QUANTITY_WORDS = "Quantity is a fixed-point representation of a number, written as text or as a number."
_INT_OR_STRING_WORDS = "IntOrString is a type that can hold an int32 or a string."
_ZEROES: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}
_NO_DEFAULT = object()
_SCOPES_SINCE = (1, 36)
"""The minor since which DeleteOptions and WatchEvent list the kinds of a document's own group version alone."""
_NO_ELEMENT_DEFAULTS_SINCE = (1, 37)
"""The minor since which the elements of lists and maps have no defaults."""


class PublishedDefinitions:
    """The definitions of one minor version."""

    def __init__(self, published: Mapping[str, Schema], version: Version = DEFAULT) -> None:
        self._published = published
        self._minor = text_of(version)
        self._has_scopes = version >= _SCOPES_SINCE
        self._has_element_defaults = version < _NO_ELEMENT_DEFAULTS_SINCE
        self._version3: dict[str, Schema] = {}
        self._references: dict[str, frozenset[str]] = {}

    def version2(self, names: Iterable[str]) -> dict[str, Schema]:
        """The named definitions and all to which they refer."""
        return {name: self._converted2(name) for name in self._closure(names)}

    def version3(self, names: Iterable[str], scope: tuple[str, str] | None) -> dict[str, Schema]:
        """The same for version 3. DeleteOptions and WatchEvent list the kinds to which they belong.

        With a scope they list those of that group version; without, those that client-go registers.
        """
        found = {name: self._converted3(name) for name in self._closure(names)}
        for name in _CROSS_REGISTERED if self._has_scopes or scope is None else ():
            if name in found:
                found[name] = {**found[name], _KINDS: _within(found[name][_KINDS], scope)}
        return found

    def _closure(self, names: Iterable[str]) -> list[str]:
        found: set[str] = set()
        waiting = [name for name in names if name in self._published]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._referred(name)
        return sorted(found)

    def _referred(self, name: str) -> frozenset[str]:
        known = self._references.get(name)
        if known is None:
            known = self._references[name] = frozenset(_references(self._published[name]))
        return known

    def _converted2(self, name: str) -> Schema:
        if name == _QUANTITY:
            return {"description": _QUANTITY_WORDS, "type": "string"}
        if name == _INT_OR_STRING:
            return {"description": _INT_OR_STRING_WORDS, "format": "int-or-string", "type": "string"}
        schema = dict(definitions.cleaned(self._published[name]))
        if "properties" in schema:
            enums = type_facts.of_type(name, self._minor).enums
            schema["properties"] = {
                field: _rooted(_with_enum(one, enums.get(field)), _VERSION2_ROOT)
                for field, one in schema["properties"].items()
            }
        return schema

    def _converted3(self, name: str) -> Schema:
        known = self._version3.get(name)
        if known is None:
            known = self._version3[name] = self._convert3(name)
        return known

    def _convert3(self, name: str) -> Schema:
        if name == _QUANTITY:
            return {"description": _QUANTITY_WORDS, "oneOf": [{"type": "string"}, {"type": "number"}]}
        if name == _INT_OR_STRING:
            alternatives = [{"type": "integer"}, {"type": "string"}]
            return {"description": _INT_OR_STRING_WORDS, "format": "int-or-string", "oneOf": alternatives}
        schema = dict(definitions.cleaned(self._published[name]))
        if "properties" in schema:
            properties = schema["properties"]
            in_go = {place.name: place.field for place in wire.layout(name, list(properties), self._minor)}
            schema["properties"] = {field: self._property(name, schema, field, in_go[field]) for field in properties}
        return schema

    def _property(self, owner: str, schema: Schema, field: str, in_go: WireField | None) -> Schema:
        """A property with its default and those of its elements. A reference with other members is wrapped."""
        facts = type_facts.of_type(owner, self._minor)
        one = _with_enum(schema["properties"][field], facts.enums.get(field))
        default = facts.openapi_defaults.get(field, _NO_DEFAULT)
        if default is _NO_DEFAULT:
            is_printed = field in schema.get("required", ()) if in_go is None else in_go.is_printed
            default = self._default(one, is_pointer=in_go is not None and in_go.is_pointer, is_printed=is_printed)
        return _wrapped(self._with_elements(one), default)

    def _with_elements(self, schema: Schema) -> Schema:
        elements = next((name for name in ("items", "additionalProperties") if name in schema), None)
        if elements is None:
            return schema
        one = schema[elements]
        default = self._default(one, is_pointer=False, is_printed=True) if self._has_element_defaults else None
        return {**schema, elements: _wrapped(self._with_elements(one), default)}

    def _default(self, schema: Schema, *, is_pointer: bool, is_printed: bool) -> Any:
        if is_pointer:
            return None
        definition = definitions.referenced(schema)
        if definition:
            return {} if "properties" in self._published[definition] else None
        if not is_printed or schema.get("format") == "byte":
            return None
        return _ZEROES.get(schema.get("type", ""))


def _within(kinds: list[Mapping[str, str]], scope: tuple[str, str] | None) -> list[Mapping[str, str]]:
    if scope is None:
        return [kind for kind in kinds if kind["group"] not in _OF_SERVERS]
    return [kind for kind in kinds if (kind["group"], kind["version"]) in {scope, ("", "v1")}]


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        definition = schema.get("$ref")
        if isinstance(definition, str):
            yield definitions.referenced(schema)
        for one in schema.values():
            yield from _references(one)


def _with_enum(schema: Schema, values: Sequence[str] | None) -> Schema:
    """The schema with its enum; on the elements if it is a list or map."""
    if values is None:
        return schema
    for elements in ("items", "additionalProperties"):
        if elements in schema:
            return {**schema, elements: {**schema[elements], "enum": values}}
    listed = "".join(f'\n - `"{value}"`' for value in values)
    return {
        **schema,
        "description": f"{schema.get('description', '')}\n\nPossible enum values:{listed}",
        "enum": values,
    }


def _rooted(schema: Schema, root: str) -> Schema:
    """A property with references into the document."""
    if not any(name in schema for name in ("$ref", "items", "additionalProperties")):
        return schema
    definition = definitions.referenced(schema)
    rooted = {**schema, "$ref": root + definition} if definition else dict(schema)
    for elements in ("items", "additionalProperties"):
        if elements in rooted:
            rooted[elements] = _rooted(rooted[elements], root)
    return rooted


def _wrapped(schema: Schema, default: Any) -> Schema:
    """A property in version 3: a reference with other members beside it stands in an `allOf`."""
    definition = definitions.referenced(schema)
    if not definition:
        return schema if default is None else {**schema, "default": default}
    reference = {"$ref": _VERSION3_ROOT + definition}
    beside = {name: value for name, value in schema.items() if name != "$ref"}
    if default is not None:
        beside["default"] = default
    return {**beside, "allOf": [reference]} if beside else reference

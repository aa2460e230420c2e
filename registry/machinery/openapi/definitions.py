"""Definitions: Kubernetes' own types as each version of OpenAPI shows them.

What the published definitions leave out is added: which values a field may have, and in version 3 the defaults. Most
defaults follow from the Go types: a struct is `{}`, and what is always there has its zero value; facts.json holds the
others. Must hold: a definition is converted when it is first asked for, version 3's once.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.machinery.openapi.routes import DELETE_OPTIONS, WATCH_EVENT
from aio_apiserver.registry.machinery.schema import definitions, presence
from aio_apiserver.registry.machinery.schema.definitions import Schema

_FILE = Path(__file__).with_name("facts.json")
_VERSION2_ROOT = "#/definitions/"
_VERSION3_ROOT = "#/components/schemas/"
_KINDS = "x-kubernetes-group-version-kind"
_CROSS_REGISTERED = (DELETE_OPTIONS, WATCH_EVENT)
_OF_SERVERS = {"admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"}
"""Groups whose kinds are not among those that every client of Kubernetes knows."""
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_QUANTITY_WORDS = "Quantity is a fixed-point representation of a number, written as text or as a number."
_INT_OR_STRING_WORDS = "IntOrString is a type that can hold an int32 or a string."
_ZEROES: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}
_NO_DEFAULT = object()


class Definitions:
    """The definitions of one minor."""

    def __init__(self, published: Mapping[str, Schema]) -> None:
        self._published = published
        self._version3: dict[str, Schema] = {}
        self._references: dict[str, frozenset[str]] = {}

    def version2(self, names: Iterable[str]) -> dict[str, Schema]:
        """The named definitions and all that they refer to."""
        return {name: self._converted2(name) for name in self._closure(names)}

    def version3(self, names: Iterable[str], scope: tuple[str, str] | None) -> dict[str, Schema]:
        """The same for version 3. Types that all groups share name, with a scope, only the kinds of its version, and
        without one those that Kubernetes' clients know.
        """
        found = {name: self._converted3(name) for name in self._closure(names)}
        for name in _CROSS_REGISTERED:
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
            enums = self._enums.get(name, {})
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
            schema["properties"] = {field: self._property(name, schema, field) for field in schema["properties"]}
        return schema

    def _property(self, owner: str, schema: Schema, field: str) -> Schema:
        """A property with its default and those of its elements, references wrapped where they do not stand alone."""
        one = _with_enum(schema["properties"][field], self._enums.get(owner, {}).get(field))
        default = self._defaults.get(owner, {}).get(field, _NO_DEFAULT)
        if default is _NO_DEFAULT:
            is_there = field in schema.get("required", ())
            default = self._default(one, is_pointer=presence.is_pointer(owner, field), is_there=is_there)
        return _wrapped(self._with_elements(one), default)

    def _with_elements(self, schema: Schema) -> Schema:
        elements = next((name for name in ("items", "additionalProperties") if name in schema), None)
        if elements is None:
            return schema
        one = schema[elements]
        default = self._default(one, is_pointer=False, is_there=True)
        return {**schema, elements: _wrapped(self._with_elements(one), default)}

    def _default(self, schema: Schema, *, is_pointer: bool, is_there: bool) -> Any:
        if is_pointer:
            return None
        definition = definitions.referenced(schema)
        if definition:
            return {} if "properties" in self._published[definition] else None
        if not is_there or schema.get("format") == "byte":
            return None
        return _ZEROES.get(schema.get("type", ""))

    @cached_property
    def _facts(self) -> Mapping[str, Any]:
        facts: Mapping[str, Any] = orjson.loads(_FILE.read_bytes())
        return facts

    @property
    def _defaults(self) -> Mapping[str, Mapping[str, Any]]:
        """Defaults that do not follow from the types, by definition and field; None is none."""
        defaults: Mapping[str, Mapping[str, Any]] = self._facts["defaults"]
        return defaults

    @cached_property
    def _enums(self) -> Mapping[str, Mapping[str, list[str]]]:
        """The values that a field, or its elements, can have."""
        found: dict[str, dict[str, list[str]]] = {}
        for enum in self._facts["enums"]:
            for definition, fields in enum["fields"].items():
                found.setdefault(definition, {}).update(dict.fromkeys(fields, enum["values"]))
        return found


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


def _with_enum(schema: Schema, values: list[str] | None) -> Schema:
    """The schema with the values that it allows: on the elements, if it has some."""
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
    """A property whose references begin at a document's root."""
    if not any(name in schema for name in ("$ref", "items", "additionalProperties")):
        return schema
    definition = definitions.referenced(schema)
    rooted = {**schema, "$ref": root + definition} if definition else dict(schema)
    for elements in ("items", "additionalProperties"):
        if elements in rooted:
            rooted[elements] = _rooted(rooted[elements], root)
    return rooted


def _wrapped(schema: Schema, default: Any) -> Schema:
    """A version 3 property: a reference with anything beside it is the only part of an `allOf`."""
    definition = definitions.referenced(schema)
    if not definition:
        return schema if default is None else {**schema, "default": default}
    reference = {"$ref": _VERSION3_ROOT + definition}
    beside = {name: value for name, value in schema.items() if name != "$ref"}
    if default is not None:
        beside["default"] = default
    return {**beside, "allOf": [reference]} if beside else reference

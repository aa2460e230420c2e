"""Version 2: one document of everything that is served.

Must hold: sources share no path and no definition of their own; parameters that are the same in more than one operation
are told once, under names made from what they say, which are kube-apiserver's; `name`, `dryRun` and `fieldValidation`
stay where they are, as clients look there.
"""

import base64
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import orjson
from msgspec import Struct

from aio_apiserver.registry.machinery.openapi import paths
from aio_apiserver.registry.machinery.openapi.definitions import Definitions
from aio_apiserver.registry.machinery.openapi.paths import Document
from aio_apiserver.registry.machinery.openapi.routes import Parameter, Response, Route, Source

T = TypeVar("T")

ROOT = "#/definitions/"
SECURITY = {
    "BearerToken": {
        "description": "Bearer Token authentication",
        "type": "apiKey",
        "name": "authorization",
        "in": "header",
    }
}

_UNSHARED = frozenset({"name", "dryRun", "fieldValidation"})
_META_MACHINERY = "io.k8s.apimachinery"
_FNV_BASIS, _FNV_PRIME, _FNV_MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_HASH_BYTES = 6


class _Part(Struct, frozen=True):
    """What a source has in the document: written, but for the parameters; `used` are the definitions that it names."""

    key: Hashable
    paths: Mapping[str, orjson.Fragment]
    parameters: Mapping[str, Document]
    schemas: Mapping[str, orjson.Fragment]
    used: frozenset[str]


class Swagger:
    """Writes the document, again and again; what it says of a source is written when that is new or has changed."""

    def __init__(self, *, title: str, version: str) -> None:
        self._info = {"title": title, "version": version}
        self._parts: dict[str, _Part] = {}
        self._common: tuple[frozenset[str], Mapping[str, orjson.Fragment]] = (frozenset(), {})

    def document(self, sources: Sequence[Source], types: Callable[[], Definitions]) -> Document:
        """The document of some sources, with written parts: it is there to be dumped. `types` are Kubernetes' own."""
        parts = [self._part(source) for source in sources]
        self._parts = {source.path: part for source, part in zip(sources, parts, strict=True)}
        schemas = {**self._of_types(parts, types), **_together(part.schemas for part in parts)}
        return {
            "swagger": "2.0",
            "info": self._info,
            "paths": _sorted(_together(part.paths for part in parts)),
            "definitions": _sorted(schemas),
            "parameters": _sorted(_together(part.parameters for part in parts)),
            "securityDefinitions": SECURITY,
            "security": [{"BearerToken": []}],
        }

    def _part(self, source: Source) -> _Part:
        known = self._parts.get(source.path)
        return known if known is not None and known.key == source.key else _written(source)

    def _of_types(self, parts: Iterable[_Part], types: Callable[[], Definitions]) -> Mapping[str, orjson.Fragment]:
        """The definitions of Kubernetes' own types that are used."""
        used = frozenset(name for part in parts for name in part.used)
        if self._common[0] != used:
            self._common = used, _fragments(types().version2(used))
        return self._common[1]


def _written(source: Source) -> _Part:
    shared = _SharedParameters()
    routes = source.routes()
    items = paths.items(routes, shared.operation, shared.parameter)
    own = source.schemas().version2
    used = frozenset(paths.used(routes, own, ROOT))
    return _Part(source.key, _fragments(items), shared.found, _fragments(own), used)


def _fragments(values: Mapping[str, Any]) -> dict[str, orjson.Fragment]:
    return {name: orjson.Fragment(orjson.dumps(value)) for name, value in values.items()}


def _together(parts: Iterable[Mapping[str, T]]) -> dict[str, T]:
    return {name: value for part in parts for name, value in part.items()}


def _sorted(values: Mapping[str, T]) -> dict[str, T]:
    return {name: values[name] for name in sorted(values)}


class _SharedParameters:
    """Writes parameters as references to one definition each."""

    def __init__(self) -> None:
        self.found: dict[str, Document] = {}
        self._names: dict[Parameter | tuple[str, bool], Document] = {}

    def operation(self, route: Route, own: Sequence[Parameter]) -> Document:
        """An operation; its body is a parameter too."""
        operation_id, tags, extensions = paths.described(route)
        parameters = self._own(route, own)
        operation: Document = {"description": route.description}
        if route.consumes:
            operation["consumes"] = list(route.consumes)
        operation |= {
            "produces": list(route.produces),
            "schemes": ["https"],
            "tags": tags,
            "operationId": operation_id,
        }
        if parameters:
            operation["parameters"] = parameters
        responses = {str(code): _response(one) for code, one in route.responses.items()}
        return {**operation, "responses": {**responses, "401": paths.UNAUTHORIZED}, **extensions}

    def parameter(self, parameter: Parameter) -> Document:
        """A parameter, or the reference to where it is told."""
        known = self._names.get(parameter)
        if known is None:
            known = self._names[parameter] = self._shared(_parameter(parameter))
        return known

    def _own(self, route: Route, own: Sequence[Parameter]) -> list[Document]:
        named = [(one.name, self.parameter(one)) for one in own]
        if route.body:
            named.append(("body", self._body(route)))
        return [parameter for _, parameter in sorted(named, key=lambda one: one[0])]

    def _body(self, route: Route) -> Document:
        key = (route.body, route.needs_body)
        known = self._names.get(key)
        if known is None:
            body: Document = {"name": "body", "in": "body"}
            if route.needs_body:
                body["required"] = True
            body["schema"] = {"$ref": ROOT + route.body}
            is_common = route.body.startswith(_META_MACHINERY)
            known = self._names[key] = self._shared(body) if is_common else body
        return known

    def _shared(self, parameter: Document) -> Document:
        if parameter["name"] in _UNSHARED:
            return parameter
        name = f"{parameter['name']}-{_hash(orjson.dumps(parameter))}"
        self.found[name] = parameter
        return {"$ref": f"#/parameters/{name}"}


def _parameter(parameter: Parameter) -> Document:
    """The order of keys counts: names of shared parameters are made from it."""
    written: Document = {
        "uniqueItems": True,
        "type": parameter.type,
        "description": parameter.description,
        "name": parameter.name,
        "in": "path" if parameter.is_in_path else "query",
    }
    return {**written, "required": True} if parameter.is_in_path else written


def _response(response: Response) -> Document:
    schema = {"$ref": ROOT + response.definition} if response.definition else {"type": "string"}
    return {"description": response.description, "schema": schema}


def _hash(text: bytes) -> str:
    """The first bytes of FNV-1 in 64 bits."""
    value = _FNV_BASIS
    for byte in text:
        value = value * _FNV_PRIME & _FNV_MASK ^ byte
    return base64.urlsafe_b64encode(value.to_bytes(8, "big")[:_HASH_BYTES]).decode()

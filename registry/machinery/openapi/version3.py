"""Version 3: one document for each source, with the definitions that it needs. Pure."""

from collections.abc import Mapping, Sequence

from aio_apiserver.registry.machinery.openapi import paths
from aio_apiserver.registry.machinery.openapi.definitions import Definitions
from aio_apiserver.registry.machinery.openapi.paths import Document
from aio_apiserver.registry.machinery.openapi.routes import Parameter, Response, Route, Source
from aio_apiserver.registry.machinery.openapi.swagger import SECURITY

ROOT = "#/components/schemas/"


def document(source: Source, definitions: Definitions) -> Document:
    """The document of a source."""
    routes = source.routes()
    own = source.schemas().version3
    schemas = {**definitions.version3(paths.used(routes, own, ROOT), source.scope), **own}
    components: Document = {}
    if schemas:
        components["schemas"] = {name: schemas[name] for name in sorted(schemas)}
    if source.head.has_security:
        components["securitySchemes"] = SECURITY
    return {
        "openapi": "3.0.0",
        "info": {"title": source.head.title, "version": source.head.version},
        "paths": paths.items(routes, _operation, _parameter),
        "components": components,
    }


def _operation(route: Route, own: Sequence[Parameter]) -> Document:
    operation_id, tags, extensions = paths.described(route)
    operation: Document = {"tags": tags, "description": route.description, "operationId": operation_id}
    if own:
        operation["parameters"] = [_parameter(one) for one in own]
    if route.body:
        body: Document = {"content": _content(route.body, route.consumes)}
        operation["requestBody"] = {**body, "required": True} if route.needs_body else body
    responses = {str(code): _response(one, route.produces) for code, one in route.responses.items()}
    return {**operation, "responses": {**responses, "401": paths.UNAUTHORIZED}, **extensions}


def _parameter(parameter: Parameter) -> Document:
    written: Document = {
        "name": parameter.name,
        "in": "path" if parameter.is_in_path else "query",
        "description": parameter.description,
    }
    if parameter.is_in_path:
        written["required"] = True
    return {**written, "schema": {"type": parameter.type, "uniqueItems": True}}


def _response(response: Response, produces: Sequence[str]) -> Document:
    return {"description": response.description, "content": _content(response.definition, produces)}


def _content(definition: str, media_types: Sequence[str]) -> Mapping[str, Document]:
    schema = {"$ref": ROOT + definition} if definition else {"type": "string"}
    return {media_type: {"schema": schema} for media_type in media_types}

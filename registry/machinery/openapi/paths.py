"""Paths: routes by path, and which of their parameters they all share. Pure; the same for both versions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.machinery.openapi import operation_ids
from aio_apiserver.registry.machinery.openapi.routes import Parameter, Route

Document = dict[str, Any]
Operation = Callable[[Route, Sequence[Parameter]], Document]
"""Writes an operation, from its route and those of its parameters that are its own."""

UNAUTHORIZED = {"description": "Unauthorized"}


def items(
    routes: Iterable[Route], operation: Operation, parameter: Callable[[Parameter], Document]
) -> dict[str, Document]:
    """The path items of some routes, sorted."""
    by_path: dict[str, list[Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, []).append(route)
    return {path: _item(by_path[path], operation, parameter) for path in sorted(by_path)}


def _item(routes: Sequence[Route], operation: Operation, parameter: Callable[[Parameter], Document]) -> Document:
    shared = _shared(routes)
    item: Document = {}
    for route in routes:
        own = [one for one in route.parameters if (one.name, one.is_in_path) not in shared]
        item[route.method] = operation(route, sorted(own, key=_order))
    if shared:
        item["parameters"] = [parameter(one) for one in sorted(shared.values(), key=_order)]
    return item


def _shared(routes: Sequence[Route]) -> Mapping[tuple[str, bool], Parameter]:
    """The parameters that all routes have."""
    found = {(one.name, one.is_in_path): one for one in routes[-1].parameters}
    for route in routes:
        names = {(one.name, one.is_in_path) for one in route.parameters}
        found = {key: one for key, one in found.items() if key in names}
    return found


def _order(parameter: Parameter) -> tuple[str, bool]:
    return parameter.name, not parameter.is_in_path


def described(route: Route) -> tuple[str, list[str], Document]:
    """The id, the tags and the extensions of an operation."""
    operation_id, tags = operation_ids.of(route.operation, route.path)
    extensions: Document = {}
    if route.kind is not None:
        kind = route.kind
        extensions["x-kubernetes-action"] = route.action
        extensions["x-kubernetes-group-version-kind"] = {
            "group": kind.group,
            "version": kind.version,
            "kind": kind.kind,
        }
    return operation_id, tags, extensions


def used(routes: Iterable[Route], own: Mapping[str, Any], root: str) -> set[str]:
    """The definitions that routes and a source's own definitions name."""
    found = {route.body for route in routes}
    found |= {response.definition for route in routes for response in route.responses.values()}
    return found | {reference.removeprefix(root) for reference in _references(list(own.values()))}


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for one in schema:
            yield from _references(one)
    elif isinstance(schema, Mapping):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference
        for one in schema.values():
            yield from _references(one)

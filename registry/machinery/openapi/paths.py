"""Paths: groups routes by path and finds the parameters that all methods of a path share. Pure; for both versions.

Generated clients use the operation ids. Must hold: they are kube-apiserver's, letter by letter.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.machinery.openapi.routes import Parameter, Route

Document = dict[str, Any]
Operation = Callable[[Route, Sequence[Parameter]], Document]
"""Writes an operation from its route and the parameters that it does not share."""

UNAUTHORIZED = {"description": "Unauthorized"}


def items(
    routes: Iterable[Route], operation: Operation, parameter: Callable[[Parameter], Document]
) -> dict[str, Document]:
    """The path items of routes, sorted."""
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
    """The id, tags and extensions of an operation."""
    operation_id, tags = of(route.operation, route.path)
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
    """The definitions that routes and the definitions of a source refer to."""
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


_VERBS = ("get", "log", "read", "replace", "patch", "delete", "watch", "connect", "proxy", "list", "create")


def of(operation: str, path: str) -> tuple[str, list[str]]:
    """The id and the tags of an operation, whose name begins with a verb."""
    verb = next(verb for verb in _VERBS if operation.startswith(verb))
    parts = path.strip("/").split("/")
    if parts[0] == "api":
        parts = ["apis", "core", *parts[1:]]
    if parts[0] != "apis" or len(parts) < 2:
        return verb + camel(operation.removeprefix(verb)), [camel(parts[0], is_first_upper=False)]
    names = [parts[1].removesuffix(".k8s.io"), *parts[2:3]]
    tag = "_".join(camel(name, is_first_upper=False) for name in names)
    return verb + "".join(camel(name) for name in names) + camel(operation.removeprefix(verb)), [tag]


def camel(text: str, *, is_first_upper: bool = True) -> str:
    """The letters and digits of a text; a letter behind another character becomes upper case."""
    written = []
    is_upper = is_first_upper
    for at, letter in enumerate(text):
        if letter.isalpha() or letter == "_" or (at and letter.isdigit()):
            written.append(letter.upper() if is_upper else letter)
            is_upper = False
        else:
            is_upper = True
    return "".join(written)

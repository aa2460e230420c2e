"""Parameters: the query parameters of each verb, with kube-apiserver's descriptions.

parameters.json has them, and is generated (scripts/upstream/tables/parameters.py). The names of shared parameters are
hashes of these descriptions.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from pathlib import Path

import orjson
from msgspec.structs import replace

from aio_apiserver.registry.base import timeline
from aio_apiserver.registry.base.timeline import Version
from aio_apiserver.registry.machinery.openapi.routes import Parameter, Route

_FILE = Path(__file__).with_name("parameters.json")

NAMESPACE = Parameter("namespace", "string", "object name and auth scope, such as for teams and projects", True)
PATH = Parameter("path", "string", "path to the resource", True)
PRETTY = Parameter(
    "pretty",
    "string",
    "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates "
    "a browser or command-line HTTP tool (curl and wget).",
)


def name_of(kind: str) -> Parameter:
    """The path parameter `name`."""
    return Parameter("name", "string", f"name of the {kind}", True)


def options(taker: str, *, without: Sequence[str] = ()) -> tuple[Parameter, ...]:
    """The query parameters of a verb (`list`) or of a kind of options (`PodExecOptions`)."""
    return tuple(
        Parameter(name, kind, description)
        for name, (kind, description, *_) in _all()[taker].items()
        if name not in without
    )


def at(routes: Iterable[Route], minor: str) -> list[Route]:
    """The routes with the parameters that a minor has."""
    absent = {name for name, since in _since().items() if timeline.version_of(minor) < since}
    return [_without(route, absent) for route in routes] if absent else list(routes)


def _without(route: Route, absent: Set[str]) -> Route:
    kept = tuple(one for one in route.parameters if one.name not in absent)
    return route if len(kept) == len(route.parameters) else replace(route, parameters=kept)


@cache
def _since() -> Mapping[str, Version]:
    """The first minors of the parameters that older ones do not have."""
    rows = {name: row for parameters in _all().values() for name, row in parameters.items()}
    return {name: timeline.version_of(since) for name, (_, _, *minors) in rows.items() for since in minors}


@cache
def _all() -> Mapping[str, Mapping[str, Sequence[str]]]:
    rows: dict[str, Mapping[str, Sequence[str]]] = orjson.loads(_FILE.read_bytes())
    del rows["_generated"]
    return rows

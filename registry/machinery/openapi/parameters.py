"""Parameters: the options that a query can have, by what takes them, as kube-apiserver describes them.

The descriptions are part of the published documents: names of shared parameters are made from them.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import orjson

from aio_apiserver.registry.machinery.openapi.routes import Parameter

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
    """The name in the path."""
    return Parameter("name", "string", f"name of the {kind}", True)


def options(taker: str, *, without: Sequence[str] = ()) -> tuple[Parameter, ...]:
    """The options of a verb (`list`) or of what is connected to (`PodExecOptions`)."""
    return tuple(
        Parameter(name, kind, description) for name, (kind, description) in _all()[taker].items() if name not in without
    )


@cache
def _all() -> Mapping[str, Mapping[str, tuple[str, str]]]:
    read: Mapping[str, Mapping[str, tuple[str, str]]] = orjson.loads(_FILE.read_bytes())
    return read

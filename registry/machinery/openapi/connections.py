"""Connections: the subresources that are no objects: what is connected to, and what is read as text.

Facts by group and path. Must hold: only what is served is published, whatever stands here.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from aio_apiserver.registry.machinery.openapi import parameters
from aio_apiserver.registry.machinery.openapi.routes import Parameter

_STREAMS = ("GET", "POST")
_PROXIED = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


class Connection(Struct, frozen=True):
    """What a client is connected to: the kind of its options, the methods that connect, whether more path follows."""

    kind: str
    methods: Sequence[str]
    has_path: bool = False


class Reading(Struct, frozen=True):
    """What is read as it is: the kind of its options, and the types that come before those of objects."""

    options: str
    produces: Sequence[str]


CONNECTIONS: Mapping[tuple[str, str], Connection] = {
    ("", "pods/attach"): Connection("PodAttachOptions", _STREAMS),
    ("", "pods/exec"): Connection("PodExecOptions", _STREAMS),
    ("", "pods/portforward"): Connection("PodPortForwardOptions", _STREAMS),
    ("", "pods/proxy"): Connection("PodProxyOptions", _PROXIED, has_path=True),
    ("", "services/proxy"): Connection("ServiceProxyOptions", _PROXIED, has_path=True),
    ("", "nodes/proxy"): Connection("NodeProxyOptions", _PROXIED, has_path=True),
}

READINGS: Mapping[tuple[str, str], Reading] = {("", "pods/log"): Reading("PodLogOptions", ("text/plain",))}


def named(places: Sequence[Parameter], connection: Connection) -> list[Parameter]:
    """The parts of a path, of which the name is said to be that of the options."""
    return [parameters.name_of(connection.kind) if one.name == "name" else one for one in places]

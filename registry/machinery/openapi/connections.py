"""Connections: the subresources that connect to a backend (exec, attach, proxy) or return text (log).

A table by group and path. Must hold: a row for a subresource that is not served has no effect.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from aio_apiserver.registry.machinery.openapi import parameters
from aio_apiserver.registry.machinery.openapi.routes import Parameter

_STREAMS = ("GET", "POST")
_PROXIED = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


class ConnectRoute(Struct, frozen=True):
    """A connecting subresource: the kind of its options, its methods, and whether a path may follow."""

    kind: str
    methods: Sequence[str]
    has_path: bool = False


class Reading(Struct, frozen=True):
    """A subresource that returns text: the kind of its options, and its media types beside those of objects."""

    options: str
    produces: Sequence[str]


CONNECTIONS: Mapping[tuple[str, str], ConnectRoute] = {
    ("", "pods/attach"): ConnectRoute("PodAttachOptions", _STREAMS),
    ("", "pods/exec"): ConnectRoute("PodExecOptions", _STREAMS),
    ("", "pods/portforward"): ConnectRoute("PodPortForwardOptions", _STREAMS),
    ("", "pods/proxy"): ConnectRoute("PodProxyOptions", _PROXIED, has_path=True),
    ("", "services/proxy"): ConnectRoute("ServiceProxyOptions", _PROXIED, has_path=True),
    ("", "nodes/proxy"): ConnectRoute("NodeProxyOptions", _PROXIED, has_path=True),
}

READINGS: Mapping[tuple[str, str], Reading] = {("", "pods/log"): Reading("PodLogOptions", ("text/plain",))}


def named(places: Sequence[Parameter], connection: ConnectRoute) -> list[Parameter]:
    """The path parameters; `name` is described by the kind of the options."""
    return [parameters.name_of(connection.kind) if one.name == "name" else one for one in places]

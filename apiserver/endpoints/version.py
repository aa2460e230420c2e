"""Version: /version, the version of Kubernetes that this server implements."""

import platform
import sys
from typing import Any

import orjson
from aiohttp import hdrs, web

from aio_apiserver.apiserver.wire import negotiation, responses, route_errors
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.base.timeline import Version

PATHS = frozenset({"/version", "/version/"})


def info(own: Minor, emulated: Version) -> dict[str, Any]:
    """The document of /version: the server's own minor, and the emulated one."""
    major, minor = own.version
    return {
        "major": str(major),
        "minor": str(minor),
        "emulationMajor": str(emulated[0]),
        "emulationMinor": str(emulated[1]),
        "minCompatibilityMajor": str(emulated[0]),
        "minCompatibilityMinor": str(emulated[1] - 1),
        "gitVersion": own.git_version,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": sys.implementation.name,
        "platform": f"{sys.platform}/{platform.machine()}",
    }


def handler(own: Minor, emulated: Version) -> Handler:
    """The handler of /version. Paths below it get 404."""
    body = orjson.dumps(info(own, emulated), option=orjson.OPT_INDENT_2)

    async def version(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if context.path not in PATHS:
            raise route_errors.RouteNotFound
        if request.method != "GET":
            raise route_errors.RouteMethodNotAllowed
        if not negotiation.is_served(request.headers.get(hdrs.ACCEPT, ""), (responses.JSON,)):
            raise route_errors.RouteNotAcceptable((responses.JSON,))
        return responses.raw(context, body)

    return version

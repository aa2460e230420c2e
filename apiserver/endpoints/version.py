"""/version: which Kubernetes this server is."""

import platform
import sys
from typing import Any

import orjson
from aiohttp import web

from apiserver import responses
from apiserver.context import Handler, RequestContext
from apiserver.version import KUBERNETES_VERSION
from registry import errors

PATHS = frozenset({"/version", "/version/"})


def info(git_version: str = KUBERNETES_VERSION) -> dict[str, Any]:
    """The version as /version and --version tell it."""
    major, minor, _ = git_version.removeprefix("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": git_version,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": sys.implementation.name,
        "platform": f"{sys.platform}/{platform.machine()}",
    }


def handler() -> Handler:
    """Serves /version and what is below it."""
    body = orjson.dumps(info(), option=orjson.OPT_INDENT_2)

    async def version(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if context.path not in PATHS:
            raise errors.RouteNotFound
        if request.method != "GET":
            raise errors.RouteMethodNotAllowed
        return responses.raw(context, body)

    return version

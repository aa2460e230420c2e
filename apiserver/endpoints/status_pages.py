"""Status pages: /statusz and /flagz, the state and the flags of the process as text or as an object.

Must hold: no secret is shown. The delimiter of the text is random, so that clients do not parse it.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aiohttp import hdrs, web

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.endpoints import version
from aio_apiserver.apiserver.handlers import output
from aio_apiserver.apiserver.wire import negotiation, responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.negotiation import ConversionTarget, Format
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.base.timeline import Version
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.schema import builtin

_COMPONENT = "apiserver"
_GROUP = "config.k8s.io"
_DEPRECATED = "v1alpha1"
_VERSIONS = (_DEPRECATED, "v1beta1")
_TEXT = "text/plain"
_MEDIA_TYPES = (media_types.JSON, media_types.YAML, _TEXT)
_DELIMITERS = (":", ": ", "=", " ")
_OTHERS = frozenset({"/apis", "/api", "/openid", "/openapi", "/.well-known"})

Object = dict[str, Any]


def statusz(paths: Callable[[], Iterable[str]], clock: Clock, own: Minor, emulated: Version) -> Handler:
    """The state of the process. `paths`: those of the index."""
    started = clock.now()

    def status() -> Object:
        info = version.info(own, emulated)
        return {
            "startTime": timestamp(started),
            "uptimeSeconds": int(clock.now() - started),
            "goVersion": info["goVersion"],
            "binaryVersion": f"{info['major']}.{info['minor']}",
            "emulationVersion": f"{info['emulationMajor']}.{info['emulationMinor']}",
            "paths": _debugging(paths()),
        }

    def text(delimiter: str) -> str:
        shown, up = status(), int(clock.now() - started)
        lines = {
            "Started": time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime(started)),
            "Up": f"{up // 3600} hr {up // 60 % 60:02d} min {up % 60:02d} sec",
            "Go version": shown["goVersion"],
            "Binary version": shown["binaryVersion"],
            "Emulation version": shown["emulationVersion"],
            "Paths": " ".join(shown["paths"]),
        }
        return "\n" + "".join(f"{name}{delimiter} {value}\n" for name, value in lines.items())

    return _page("Statusz", status, text)


def flagz(settings: Settings) -> Handler:
    """The flags of the process."""
    flags = {name.replace("_", "-"): _flag_text(getattr(settings, name)) for name in Settings.model_fields}

    def text(delimiter: str) -> str:
        return "".join(f"{name}{delimiter}{flags[name]}\n" for name in sorted(flags))

    return _page("Flagz", lambda: {"flags": dict(flags)}, text)


def _flag_text(value: Any) -> str:
    """The value of a flag in Go's format."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ",".join(f"{name}={one}" for name, one in sorted(value.items()))
    if isinstance(value, tuple):
        return f"[{','.join(map(str, value))}]"
    return "" if value is None else str(value)


def _debugging(paths: Iterable[str]) -> Sequence[str]:
    """The first segments of the paths, without those of the APIs."""
    found = {f"/{path.split('/')[1]}" for path in paths}
    return sorted(found - _OTHERS - {"/"})


def _page(kind: str, members: Callable[[], Object], text: Callable[[str], str]) -> Handler:
    name = kind.lower()
    head = (
        f"\n{_COMPONENT} {name}\nWarning: This endpoint is not meant to be machine parseable, "
        "has no formatting compatibility guarantees and is for debugging purposes only.\n"
    )

    def allows(media_type: str, target: ConversionTarget | None) -> bool:
        if media_type == _TEXT or target is None:
            return media_type == _TEXT and target is None
        return target.group == _GROUP and target.version in _VERSIONS and target.kind == kind

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        chosen = _chosen(request.headers.get(hdrs.ACCEPT, "").strip(), allows)
        if chosen.target is None:
            body = head + text(chance.choice(_DELIMITERS))
            return responses.raw(context, body.encode(), content_type=responses.TEXT)
        obj = {"kind": kind, "apiVersion": chosen.target.api_version, "metadata": {"name": _COMPONENT}, **members()}
        if chosen.target.version == _DEPRECATED:
            context.warnings.add(f"This version of the {name} endpoint is deprecated. Please use a newer version.")
        return await output.respond_value(request, context, obj, chosen, types=builtin())

    return handle


def _chosen(accept: str, allows: negotiation.Allows) -> Format:
    if not accept:
        return Format(_TEXT)
    chosen = negotiation.negotiate(accept, _MEDIA_TYPES, allows)
    if chosen is None:
        raise errors.NotAcceptable(_MEDIA_TYPES)
    return chosen

"""Debugging: /debug/pprof and /debug/flags, with the tasks and threads of the process and the log verbosity.

The paths are Go's. kube-apiserver does not list them at the root, so we do not either. Must hold: GET changes nothing.
PUT /debug/flags/v sets the verbosity.
"""

import asyncio
import html
import io
import sys
import threading
import traceback
from collections.abc import Mapping

from aiohttp import hdrs, web

from aio_apiserver.apiserver.config import logs
from aio_apiserver.apiserver.wire import bodies, responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.base.golang.quoting import quote

_HTML = "text/html; charset=utf-8"
_PPROF = "/debug/pprof/"
_FLAGS = "/debug/flags/"
_MOST_DIGITS = 9
_READING = frozenset({"GET", "HEAD"})
_PROFILES = {
    "cmdline": "The command line of the program",
    "goroutine": "Stacks of all tasks",
    "threadcreate": "Stacks of all threads",
}


async def _redirect(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    page = f'<a href="{_PPROF}">Found</a>.\n\n'.encode() if request.method in _READING else b""
    response = responses.raw(context, page, status=302, content_type=_HTML)
    response.headers[hdrs.LOCATION] = _PPROF
    if not page:
        del response.headers[hdrs.CONTENT_TYPE]
    return response


async def _pprof(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    name = context.path.removeprefix(_PPROF)
    if not name:
        page = responses.raw(context, _index().encode(), content_type=_HTML)
        page.headers[responses.NOSNIFF] = "nosniff"
        return page
    if name == "cmdline":
        return responses.text(context, "\0".join(sys.argv))
    if name == "goroutine":
        return responses.text(context, _tasks())
    if name == "threadcreate":
        return responses.text(context, _threads())
    return responses.text(context, "Unknown profile\n", status=404)


async def _flags(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    page = f"<html>\n<head>\n<title>{_FLAGS}</title>\n</head>\n<body>\n{_FLAGS}<br>\n<br>\nflags:<br>\n<table>\n"
    page += "<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n"
    return responses.raw(context, page.encode(), content_type=_HTML)


async def _verbosity(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    if request.method != hdrs.METH_PUT:
        return _plain(context, "unsupported http method\n", status=406)
    wanted = (await bodies.read(request)).decode(errors="replace")
    if not (wanted.isascii() and wanted.isdigit()):
        return _plain(context, f"strconv.ParseUint: parsing {quote(wanted)}: invalid syntax\n", status=400)
    if len(wanted) > _MOST_DIGITS:
        return _plain(context, f"strconv.ParseUint: parsing {quote(wanted)}: value out of range\n", status=400)
    logs.set_verbosity(int(wanted))
    return _plain(context, f"successfully set klog.logging.verbosity to {wanted}\n", status=200)


def exact(*, is_profiling: bool) -> Mapping[str, Handler]:
    """The handlers by exact path. `is_profiling`: with pprof."""
    return {
        **({"/debug/pprof": _redirect} if is_profiling else {}),
        "/debug/flags": _flags,
        "/debug/flags/v": _verbosity,
    }


def prefixes(*, is_profiling: bool) -> Mapping[str, Handler]:
    """The handlers by prefix."""
    return {_PPROF: _pprof, _FLAGS: _flags} if is_profiling else {_FLAGS: _flags}


def _plain(context: RequestContext, text: str, *, status: int) -> web.Response:
    response = responses.text(context, text, status=status)
    response.headers[hdrs.CONTENT_TYPE] = "text/plain"
    return response


def _index() -> str:
    rows = "".join(
        f"<tr><td><a href='{name}?debug=1'>{name}</a></td><td>{html.escape(words)}</td></tr>\n"
        for name, words in _PROFILES.items()
    )
    return f"<html>\n<head>\n<title>{_PPROF}</title>\n</head>\n<body>\n<table>\n{rows}</table>\n</body>\n</html>\n"


def _tasks() -> str:
    tasks = sorted(asyncio.all_tasks(), key=lambda task: task.get_name())
    written = io.StringIO()
    written.write(f"tasks: total {len(tasks)}\n")
    for task in tasks:
        written.write("\n")
        task.print_stack(file=written)
    return written.getvalue()


def _threads() -> str:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    frames = sys._current_frames()
    stacks = [
        f"\n{names.get(ident, 'unnamed')}\n{''.join(traceback.format_stack(frame))}" for ident, frame in frames.items()
    ]
    return f"threads: total {len(stacks)}\n" + "".join(stacks)

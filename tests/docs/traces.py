"""traces: Which of the product's functions a server calls while a request is served, in their order.

A profile function on the server's own thread sees every call there, those of background tasks among them. It sees no
call on worker threads.
"""

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from aio_apiserver.testing import Server
from tests.paths import ROOT

_ROOTS = ("apiserver", "base", "controllers", "registry", "simulation", "storage", "testing")


class Trace:
    """The functions that were called, as (file, qualified name), as often as they were called."""

    def __init__(self) -> None:
        self._codes: list[types.CodeType] = []

    def hear(self, frame: types.FrameType, event: str, _argument: object) -> None:
        """What sys.setprofile calls."""
        if event == "call":
            self._codes.append(frame.f_code)

    @property
    def calls(self) -> list[tuple[str, str]]:
        """In the order of the calls."""
        return [(file, code.co_qualname) for code in self._codes if (file := _product_file(code.co_filename))]


@cache
def _product_file(path: str) -> str:
    """A file of the product by its place in the tree; nothing for all others."""
    if "aio_apiserver" not in path:
        return ""
    real = Path(path).resolve()
    file = real.relative_to(ROOT).as_posix() if real.is_relative_to(ROOT) else ""
    return file if file.partition("/")[0] in _ROOTS else ""


@contextmanager
def traced(server: Server) -> Iterator[Trace]:
    """What the server's thread calls while the context is open."""
    trace = Trace()
    _profile(server, trace.hear)
    try:
        yield trace
    finally:
        _profile(server, None)


def _profile(server: Server, hear: Callable[[types.FrameType, str, object], None] | None) -> None:
    async def install() -> None:
        sys.setprofile(hear)

    assert server._background is not None
    server._background.call(install())

"""Loops: the event loop of the process: uvloop's if it is installed, else asyncio's."""

import asyncio
from collections.abc import Callable


def factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """The factory of event loops."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    new_loop: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return new_loop

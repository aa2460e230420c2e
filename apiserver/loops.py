"""Event loops: uvloop's where it is installed, or else Python's own."""

import asyncio
from collections.abc import Callable


def factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """What makes a loop."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    new_loop: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return new_loop

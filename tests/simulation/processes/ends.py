"""Waiting for the ends of processes that are no children of the test."""

import asyncio
import os


async def wait_until_ended(number: int) -> None:
    """Wait until a process has ended."""
    try:
        descriptor = os.pidfd_open(number)
    except ProcessLookupError:
        return
    has_ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(descriptor, has_ended.set)
    await has_ended.wait()
    loop.remove_reader(descriptor)
    os.close(descriptor)

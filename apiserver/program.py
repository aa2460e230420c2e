"""The program: one server, from the command line to the exit code, with the signals and files of a process.

Must hold: SIGTERM and SIGINT stop the server in order and the program exits 0; a second one exits at once. The ready
file is there exactly as long as the server is ready.
"""

import asyncio
import gc
import logging
import os
import shlex
import signal
import sys

from aio_apiserver.apiserver import loops, server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.tls import files
from aio_apiserver.storage.errors import StorageError

logger = logging.getLogger(__name__)


def run(settings: Settings) -> int:
    """Serve until a signal. Returns the exit code."""
    with asyncio.Runner(loop_factory=loops.factory()) as runner:
        return runner.run(_serve(settings))


async def _serve(settings: Settings) -> int:
    stop = _stop_on_signals()
    try:
        running = await server.start(settings)
    except (OSError, ValueError, StorageError) as exc:
        logger.error("cannot start: %s", exc)
        return 1
    gc.freeze()  # what the start has made stays: later collections need not look at it
    gc.enable()
    try:
        async with asyncio.TaskGroup() as tasks:
            announcing = tasks.create_task(_announce(running))
            await stop.wait()
            announcing.cancel()
    finally:
        if settings.ready_file is not None:
            settings.ready_file.unlink(missing_ok=True)
        await running.stop()
    return 0


async def _announce(running: Server) -> None:
    """Tell people and programs that the server is ready, once it is."""
    await running.wait_until_ready()
    settings = running.settings
    sys.stdout.write(f"export KUBECONFIG={shlex.quote(str(settings.kubeconfig_file.absolute()))}\n")
    sys.stdout.flush()
    if settings.ready_file is not None:
        files.put(settings.ready_file, f"{running.url}\n".encode(), mode=files.PUBLIC)
    logger.info("Ready: %s", running.url)
    gc.collect()
    gc.freeze()


def _stop_on_signals() -> asyncio.Event:
    """An event that the first signal sets; the second one ends the process."""
    stop = asyncio.Event()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            os._exit(1)
        logger.info("received %s, stopping", number.name)
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    return stop

"""Program: runs one server as a process, with signals, the ready file and an exit code.

Must hold: SIGTERM and SIGINT stop the server gracefully and the exit code is 0; a second signal ends the process at
once. The ready file exists from readiness to the stop.
"""

import asyncio
import gc
import logging
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.process import loops, short_collections, start_errors
from aio_apiserver.apiserver.server import Server
from aio_apiserver.base import private_files
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.factory.unfinished_copy import UnfinishedCopy

if TYPE_CHECKING:
    from aio_apiserver.apiserver.process import heap
    from aio_apiserver.apiserver.workers.slots import WorkerSlot
else:
    heap = Deferred("aio_apiserver.apiserver.process.heap")

logger = logging.getLogger(__name__)

_READY_FILE_SECONDS = 1.0


def run(settings: Settings, slot: "WorkerSlot | None" = None) -> int:
    """Serve until a signal arrives. Returns the exit code. slot: the place of one of several workers."""
    with asyncio.Runner(loop_factory=loops.factory()) as runner:
        return runner.run(_serve(settings, slot))


async def _serve(settings: Settings, slot: "WorkerSlot | None") -> int:
    stop = _stop_on_signals()
    if slot is not None:
        _stop_as_orphan(slot, stop)
    try:
        running = await server.start(settings, slot=slot)
    except (OSError, ValueError, StorageError) as exc:
        logger.error("cannot start: %s", start_errors.explain(exc, settings))
        return 1
    gc.freeze()  # exempts all objects of the start from later collections
    gc.enable()
    code = 0
    beating = Tasks()
    if slot is not None:
        beating.spawn(_beat(slot), name="heartbeat")
    try:
        async with asyncio.TaskGroup() as tasks:
            announcing = tasks.create_task(_announce(running))
            await stop.wait()
            announcing.cancel()
    except* UnfinishedCopy as refusal:
        logger.error("cannot start: %s", refusal.exceptions[0])
        code = 1
    finally:
        if settings.ready_file is not None and running.is_first:
            settings.ready_file.unlink(missing_ok=True)
        await running.stop()
    return code


async def _announce(running: Server) -> None:
    """When the server is ready, print the kubeconfig file and write the ready file. One worker does it for all.

    Then keep the heap small.
    """
    await running.wait_until_ready()
    if running.is_first:
        await running.wait_until_all_are_ready()
        settings = running.settings
        sys.stdout.write(f"export KUBECONFIG={shlex.quote(str(settings.kubeconfig_file.absolute()))}\n")
        if running.parts.console is not None:
            sys.stdout.write(f"Console: {_console_address(running)}\n")
        sys.stdout.flush()
        if settings.ready_file is not None:
            await _write_ready_file(settings.ready_file, running.url)
    logger.info("Ready: %s", running.url)
    gc.collect()
    gc.freeze()
    short_collections.ShortCollections()
    await heap.keep_trimmed(SystemClock())


async def _write_ready_file(path: Path, url: str) -> None:
    """Write the file as soon as the disk takes it. Meanwhile the server serves."""
    while True:
        try:
            return private_files.put(path, f"{url}\n".encode(), mode=private_files.PUBLIC)
        except OSError as exc:
            logger.warning("cannot write --ready-file=%s yet: %s", path, exc.strerror or exc)
        await SystemClock().sleep(_READY_FILE_SECONDS)


def _console_address(running: Server) -> str:
    """On a terminal, the one-time link of an administrator, which no log shall keep. Several workers share no codes."""
    console = running.parts.console
    assert console is not None
    if running.parts.siblings is None and sys.stdout.isatty():
        return console.link(running.url)
    return f"{running.url}/ui/"


async def _beat(slot: "WorkerSlot") -> None:
    """Show the supervisor that the event loop runs, from the start until all has stopped."""
    clock = SystemClock()
    while True:
        slot.heartbeat.touch()
        await clock.sleep(slot.beat_seconds)


def _stop_as_orphan(slot: "WorkerSlot", stop: asyncio.Event) -> None:
    """Stop when the supervisor has ended."""
    loop = asyncio.get_running_loop()

    def on_end() -> None:
        loop.remove_reader(slot.lifeline)
        logger.error("the supervisor has ended, stopping")
        stop.set()

    loop.add_reader(slot.lifeline, on_end)


def _stop_on_signals() -> asyncio.Event:
    """The event that the first signal sets. The second signal ends the process."""
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

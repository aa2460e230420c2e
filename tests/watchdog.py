"""Watchdog: fails a test in which one callback held an event loop for longer than 100 ms.

A callback is measured by the CPU time of its thread, so that other processes of the machine make no test fail. The time
of the garbage collector does not count: its heap is the one of all tests.

Must hold: callbacks of asyncio's loops and of uvloop's are measured; of uvloop, tasks and timers alone. A hold that
`tests/loop_holds.txt` names is no failure; neither is one in a test with the marker `holds_the_loop`.
"""

import asyncio
import faulthandler
import gc
import re
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import TypeVarTuple

import uvloop

Ts = TypeVarTuple("Ts")

LIMIT_SECONDS = 0.1
_TICK_SECONDS = 0.01
_MOST_STACKS = 20
_LEDGER = Path(__file__).parent / "loop_holds.txt"
_THREAD = re.compile(r"(?:Current t|T)hread 0x([0-9a-f]+)")
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)


@dataclass(frozen=True)
class Hold:
    """One callback that held an event loop.

    functions: those that were seen in it, in how many of its stacks. stack: one of them.
    """

    seconds: float
    callback: str
    stacks: int
    functions: Mapping[str, int]
    stack: str

    def __str__(self) -> str:
        return f"{1000 * self.seconds:.0f} ms of CPU time in {self.callback}\n{self.stack}"

    def is_excused(self, ledger: Collection[str]) -> bool:
        """Whether most of its time was spent in a function of the ledger."""
        return any(2 * self.functions.get(name, 0) > self.stacks for name in ledger)


class Watchdog:
    """Measures the callbacks of all event loops of this process."""

    def __init__(self, limit: float = LIMIT_SECONDS) -> None:
        self.holds: list[Hold] = []
        self._limit = limit
        self._running: dict[int, float] = {}
        """When the callback that each thread runs has begun."""
        self._stacks: dict[int, list[traceback.StackSummary]] = {}
        """The stacks of that callback."""
        self._collected: dict[int, float] = {}
        """The CPU time of the garbage collector in each thread."""
        self._collecting_since = 0.0
        self._is_stopped = threading.Event()

    def run(self, callback: object, work: Callable[[], object]) -> None:
        """Run a callback, and note it when it took long."""
        thread = threading.get_ident()
        self._running[thread] = time.monotonic()
        began = time.thread_time() - self._collected.get(thread, 0.0)
        try:
            work()
        finally:
            spent = time.thread_time() - self._collected.get(thread, 0.0) - began
            del self._running[thread]
            stacks = self._stacks.pop(thread, ())
            if spent > self._limit:
                self.holds.append(_hold(spent, callback, stacks))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Measure all loops of this process meanwhile."""
        plain_run, plain_loop, watchdog = asyncio.Handle._run, uvloop.new_event_loop, self

        def run(handle: asyncio.Handle) -> None:
            watchdog.run(handle, partial(plain_run, handle))

        looking = threading.Thread(target=self._look, name="watchdog", daemon=True)
        gc.callbacks.append(self._note_collection)
        asyncio.Handle._run = run  # type: ignore[method-assign,assignment]
        uvloop.new_event_loop = lambda: WatchedLoop(watchdog)
        looking.start()
        try:
            yield
        finally:
            asyncio.Handle._run, uvloop.new_event_loop = plain_run, plain_loop  # type: ignore[method-assign]
            gc.callbacks.remove(self._note_collection)
            self._is_stopped.set()
            looking.join()

    def _note_collection(self, phase: str, _: Mapping[str, int]) -> None:
        now, thread = time.thread_time(), threading.get_ident()
        if phase == "start":
            self._collecting_since = now
        else:
            self._collected[thread] = self._collected.get(thread, 0.0) + now - self._collecting_since

    def _look(self) -> None:
        """Take the stacks of callbacks that run for longer than a tick."""
        with tempfile.TemporaryFile(buffering=0) as file:
            while not self._is_stopped.wait(_TICK_SECONDS):
                began_before = time.monotonic() - _TICK_SECONDS
                threads = {thread for thread, began in self._running.copy().items() if began < began_before}
                wanted = {thread for thread in threads if len(self._stacks.get(thread, ())) < _MOST_STACKS}
                for thread, stack in _stacks_of(wanted, file):
                    self._stacks.setdefault(thread, []).append(stack)


class WatchedLoop(uvloop.Loop):
    """uvloop's loop, of which tasks, calls and timers are measured."""

    def __init__(self, watchdog: Watchdog) -> None:
        super().__init__()
        self._watchdog = watchdog

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        return super().call_soon(self._measured(callback, *args), context=context)

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        return super().call_soon_threadsafe(self._measured(callback, *args), context=context)

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return super().call_later(delay, self._measured(callback, *args), context=context)

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return super().call_at(when, self._measured(callback, *args), context=context)

    def _measured(self, callback: Callable[[*Ts], object], *args: *Ts) -> Callable[[], None]:
        work = partial(callback, *args)
        return partial(self._watchdog.run, work, work)


def _stacks_of(threads: Collection[int], file: FileIO) -> Iterator[tuple[int, traceback.StackSummary]]:
    """The present stacks of some threads, from the callback on.

    faulthandler writes them to the file before another thread can go on. A walk in Python would follow frames that end
    meanwhile, and crash now and then.
    """
    if not threads:
        return
    file.seek(0)
    file.truncate()
    faulthandler.dump_traceback(file)
    file.seek(0)
    for part in file.read().decode(errors="replace").split("\n\n"):
        head, _, text = part.partition("\n")
        found = _THREAD.match(head)
        if found is not None and (thread := int(found[1], 16)) in threads:
            yield thread, _summary(text)


def _summary(text: str) -> traceback.StackSummary:
    """A stack as faulthandler writes it, without the frames outside of the callback."""
    frames = []
    for found in _FRAME.finditer(text):
        filename, line, name = found[1], int(found[2]), found[3]
        if (filename, name) == (Watchdog.run.__code__.co_filename, "run"):
            break
        frames.append(traceback.FrameSummary(filename, line, name, lookup_line=False))
    return traceback.StackSummary.from_list(frames)


def _hold(seconds: float, callback: object, stacks: Sequence[traceback.StackSummary]) -> Hold:
    functions = Counter(name for stack in stacks for name in {f"{_short(one.filename)}:{one.name}" for one in stack})
    stack = "".join(reversed(stacks[len(stacks) // 2].format())) if stacks else "(no stack was seen)\n"
    return Hold(seconds, repr(callback)[:500], len(stacks), functions, stack)


def _short(filename: str) -> str:
    for top in ("/aio_apiserver/", "/tests/", "/site-packages/"):
        _, found, rest = filename.rpartition(top)
        if found:
            return f"tests/{rest}" if top == "/tests/" else rest
    return filename


def excused() -> Mapping[str, str]:
    """The functions that may hold a loop, with the reasons."""
    rows = [line.split(" ", 1) for line in _LEDGER.read_text().splitlines() if line and not line.startswith("#")]
    return {name: reason.strip() for name, reason in rows}

"""Supervisor: the process that starts the workers of --workers, replaces those that end, and passes signals on.

It serves nothing, and its imports must stay few. Must hold: it holds the ports, so that no other server can take them
between two workers. A worker that ends is replaced, later and later when it ends soon. The workers end when the
supervisor does, whatever ends it: each of them watches a pipe that closes with it. A worker that hangs is killed, and
replaced.
"""

import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from aio_apiserver.apiserver.config import logs
from aio_apiserver.apiserver.wire.shared_ports import SharedPorts
from aio_apiserver.apiserver.workers import heartbeats
from aio_apiserver.apiserver.workers.heartbeats import Heartbeats
from aio_apiserver.apiserver.workers.slots import CANNOT_START, NO_SOCKET, Plan, WorkerSlot

logger = logging.getLogger(__name__)

_WORKER = "aio_apiserver.apiserver.worker"
_ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_AWAITED = (*_ENDINGS, signal.SIGCHLD, signal.SIGALRM)
_LASTING_SECONDS = 10.0
"""A worker that has lived so long is replaced at once."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
_SIGNALLED = 128
"""The exit code for a signal is this, and its number. Shells have the same rule."""
_LONGEST_FOLDER = 80
"""The path of a Unix socket has at most some 100 characters."""


class _Running(NamedTuple):
    """A worker that runs. short_lives: how many in its place have ended soon, one after the other."""

    number: int
    begun: float
    short_lives: int
    is_replacement: bool


class _Due(NamedTuple):
    """A worker to start at a time."""

    at: float
    number: int
    short_lives: int


class Supervisor:
    """The workers of one server. lifeline: the descriptor that tells workers that the supervisor has ended."""

    def __init__(self, plan: Plan, arguments: Sequence[str], *, ports: SharedPorts, folder: str, lifeline: int) -> None:
        self._plan = plan
        self._arguments = arguments
        self._ports = ports
        self._folder = folder
        self._lifeline = lifeline
        self._running: dict[int, _Running] = {}
        self._due: list[_Due] = []
        self._heartbeats = Heartbeats()
        self._next_look = time.monotonic() + plan.look_seconds
        self._is_stopping = False
        self._code = 0

    def run(self) -> int:
        """Run the workers until a signal ends them. Returns the exit code."""
        for number in range(self._plan.workers):
            self._start(number, is_replacement=False)
        self._set_alarm()
        while self._running or self._due:
            received = signal.sigwait(_AWAITED)
            if received == signal.SIGCHLD:
                self._reap()
            elif received == signal.SIGALRM:
                self._start_due()
                self._look()
                self._set_alarm()
            else:
                self._stop(received)
        return self._code

    def _start(self, number: int, *, short_lives: int = 0, is_replacement: bool = True) -> None:
        sockets = self._ports.handed_over()
        descriptors = [one.fileno() for one in sockets]
        secure, insecure = [*descriptors, NO_SOCKET][:2]
        beat_seconds = self._plan.look_seconds / heartbeats.BEATS_A_LOOK
        slot = WorkerSlot(number, self._plan.workers, self._folder, secure, insecure, self._lifeline, beat_seconds)
        slot.heartbeat.unlink(missing_ok=True)
        command = [sys.executable, "-m", _WORKER, slot.dump(), *self._arguments]
        pid = os.posix_spawn(sys.executable, command, os.environ, setpgroup=0, setsigmask=())
        for one in sockets:
            one.close()
        self._running[pid] = _Running(number, time.monotonic(), short_lives, is_replacement)
        logger.info("worker %d is process %d", number, pid)

    def _reap(self) -> None:
        """Take note of all workers that have ended."""
        while self._running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            worker = self._running.pop(pid, None)
            self._heartbeats.forget(pid)
            if worker is not None:  # the first process of a container gets orphans of others, too
                self._ended(worker, os.waitstatus_to_exitcode(status))

    def _ended(self, worker: _Running, code: int) -> None:
        if self._is_stopping:
            self._code = self._code or (code if code >= 0 else _SIGNALLED - code)
        elif code == CANNOT_START and not worker.is_replacement:
            self._code = 1
            self._stop(signal.SIGTERM)
        elif worker.number == 0 and self._plan.has_volatile_store:
            logger.error(
                "the worker with the store in memory has ended (%s), and the store with it", _described_exit(code)
            )
            self._code = 1
            self._stop(signal.SIGTERM)
        else:
            self._replace(worker, code)

    def _replace(self, worker: _Running, code: int) -> None:
        lived = time.monotonic() - worker.begun
        short_lives = 0 if lived >= _LASTING_SECONDS else worker.short_lives + 1
        pause = min(_FIRST_PAUSE * 2 ** (short_lives - 1), _LONGEST_PAUSE) if short_lives else 0.0
        logger.error(
            "worker %d has ended (%s), another one starts in %.1f s", worker.number, _described_exit(code), pause
        )
        self._due.append(_Due(time.monotonic() + pause, worker.number, short_lives))
        self._start_due()
        self._set_alarm()

    def _start_due(self) -> None:
        """Start the workers whose time has come."""
        now = time.monotonic()
        due, self._due = [one for one in self._due if one.at <= now], [one for one in self._due if one.at > now]
        for one in due:
            try:
                self._start(one.number, short_lives=one.short_lives)
            except OSError as exc:
                logger.error("worker %d cannot be started, next try in %.0f s: %s", one.number, _LONGEST_PAUSE, exc)
                self._due.append(_Due(now + _LONGEST_PAUSE, one.number, one.short_lives))

    def _look(self) -> None:
        """Kill the workers that hang. A server that stops waits for its workers."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + self._plan.look_seconds
        for pid, worker in self._running.items() if not self._is_stopping else ():
            if self._heartbeats.is_silent(pid, heartbeats.file_of(self._folder, worker.number)):
                logger.error("worker %d hangs, it is killed", worker.number)
                os.kill(pid, signal.SIGKILL)

    def _set_alarm(self) -> None:
        """Set the alarm for the next look, or the next worker to start."""
        at = min([self._next_look, *(one.at for one in self._due)])
        signal.setitimer(signal.ITIMER_REAL, max(at - time.monotonic(), 0.001))

    def _stop(self, passed_on: int) -> None:
        """Pass a signal on, and replace no worker any more."""
        self._is_stopping = True
        self._due.clear()
        for pid in self._running:
            os.kill(pid, passed_on)


def _described_exit(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@contextmanager
def _private_folder() -> Iterator[str]:
    """A new folder of mode 0700 whose path is short enough for sockets."""
    is_long = len(tempfile.gettempdir()) > _LONGEST_FOLDER
    folder = tempfile.mkdtemp(prefix="aio-apiserver-", dir="/tmp" if is_long else None)  # noqa: S108 a new folder
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(arguments: Sequence[str]) -> int:
    """Run the workers of a plan. Returns the exit code."""
    plan = Plan.parse(arguments[0])
    logs.configure(plan.log_format, plan.verbosity, vmodule=plan.vmodule)
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    try:
        ports = SharedPorts(plan.ports)
    except OSError as exc:
        logger.error("cannot start: %s", exc)
        return 1
    lifeline, held = os.pipe()
    os.set_inheritable(lifeline, True)
    with _private_folder() as folder:
        code = Supervisor(plan, arguments[1:], ports=ports, folder=folder, lifeline=lifeline).run()
    os.close(held)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

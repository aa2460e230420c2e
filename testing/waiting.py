"""Waiting: waits in a test until an object is as expected.

    server.wait_for("deployments.apps", "web", lambda web: web["status"]["readyReplicas"] == 3)

The condition runs in the thread of the test. Must hold: a state that lasts for a moment is seen. The error after the
time limit shows the last state.
"""

import asyncio
import queue
import time
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeVar

import yaml

from aio_apiserver.base.unstructured import Object
from aio_apiserver.testing.bench.bench import Bench

T = TypeVar("T")

Until = Callable[[Object], Any]
"""Returns something true when an object is as expected. An assertion that fails means "not yet", with its message. So
does a missing member (KeyError, IndexError, TypeError, AttributeError).
"""
Judge = Callable[[Object | None], bool]

_NOT_YET = (KeyError, IndexError, TypeError, AttributeError)
_SECONDS = 10.0


class Waiting:
    """The waiting methods of a server."""

    @property
    def _bench(self) -> Bench:
        raise NotImplementedError

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the server's loop."""
        raise NotImplementedError

    def settle(self) -> None:
        """Return when the controllers have done everything that they do without time passing. Raises NotSettled."""
        self._call(self._bench.moving.settle())

    def wait_for(
        self,
        resource: str,
        name: str,
        until: Until | None = None,
        *,
        namespace: str = "default",
        timeout: float = _SECONDS,
    ) -> Object:
        """Wait until the object exists and is as expected. Raises AssertionError when time is over.

        resource: `pods`, `deployments.apps`. namespace: ignored for cluster-scoped resources.
        """
        question = _Question(resource, namespace, name, until)
        found, is_there = self._wait(question, question.fits, timeout=timeout)
        if is_there:
            assert found is not None
            return found
        raise AssertionError(f"{question} is not as it should be after {timeout:g} s{question.why(found)}")

    def wait_until_gone(
        self, resource: str, name: str, *, namespace: str = "default", timeout: float = _SECONDS
    ) -> None:
        """Wait until there is no such object. Raises AssertionError when time is over."""
        question = _Question(resource, namespace, name, None)
        found, is_gone = self._wait(question, lambda obj: obj is None, timeout=timeout)
        if not is_gone:
            raise AssertionError(f"{question} is still there after {timeout:g} s\n{_text(found)}")

    async def wait_for_async(
        self,
        resource: str,
        name: str,
        until: Until | None = None,
        *,
        namespace: str = "default",
        timeout: float = _SECONDS,
    ) -> Object:
        """The same as `wait_for`, for tests whose event loop must run meanwhile. `until` runs in a thread."""
        return await asyncio.to_thread(self.wait_for, resource, name, until, namespace=namespace, timeout=timeout)

    async def wait_until_gone_async(
        self, resource: str, name: str, *, namespace: str = "default", timeout: float = _SECONDS
    ) -> None:
        """The same as `wait_until_gone`, for tests whose event loop must run meanwhile."""
        await asyncio.to_thread(self.wait_until_gone, resource, name, namespace=namespace, timeout=timeout)

    def _wait(self, question: "_Question", fits: Judge, *, timeout: float) -> tuple[Object | None, bool]:
        """The last state, and whether it fits."""
        states: queue.SimpleQueue[Object | None] = queue.SimpleQueue()
        showing = self._bench.states.watched(question.resource, question.namespace, question.name, show=states.put)
        self._call(showing.__aenter__())
        ends, last = time.monotonic() + timeout, None
        try:
            while True:
                last = states.get(timeout=max(ends - time.monotonic(), 0))
                if fits(last):
                    return last, True
        except queue.Empty:
            return last, False
        finally:
            self._call(showing.__aexit__(None, None, None))


class _Question(NamedTuple):
    """The object that a test waits for, with its condition."""

    resource: str
    namespace: str
    name: str
    until: Until | None

    def __str__(self) -> str:
        return f"{self.resource} {self.namespace}/{self.name}"

    def fits(self, obj: Object | None) -> bool:
        return obj is not None and not self._flaw(obj)

    def why(self, obj: Object | None) -> str:
        """Why the last state does not fit, and the state."""
        flaw = self._flaw(obj) if obj is not None else ""
        return f"{f': {flaw}' if flaw else ''}\n{_text(obj)}"

    def _flaw(self, obj: Object) -> str:
        if self.until is None:
            return ""
        try:
            return "" if self.until(obj) else "it does not fit"
        except AssertionError as exc:
            return str(exc) or "an assertion fails"
        except _NOT_YET as exc:
            return f"{type(exc).__name__}: {exc}"


def _text(obj: Object | None) -> str:
    if obj is None:
        return "(it is not there)"
    metadata = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
    return yaml.safe_dump({**obj, "metadata": metadata}, sort_keys=False)

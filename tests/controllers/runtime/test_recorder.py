"""The recorder of events, when a write fails."""

import asyncio

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.recorder import Recorder

_POD = {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "web", "uid": "u"}


async def test_events_behind_one_that_fails_unexpectedly_are_tried() -> None:
    tried = []

    def no_client() -> ControllerClient:
        tried.append("event")
        raise LookupError("no client")

    tasks = Tasks()
    recorder = Recorder(no_client, SystemClock(), tasks, "test")
    for reason in ("First", "Second"):  # about one object: the second waits for the first
        recorder.say(_POD, reason, "text")
    for _ in range(10):
        await asyncio.sleep(0)
    await tasks.close()

    assert len(tried) == 2

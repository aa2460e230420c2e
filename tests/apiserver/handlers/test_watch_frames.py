"""The encoders of watches: shared by all watchers of a resource, and dropped with it."""

import gc
import weakref

from aio_apiserver.apiserver.handlers.watch_frames import frames_of
from aio_apiserver.apiserver.wire.watch_framing import wire_of
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.generic.rest import RESTStorage
from aio_apiserver.registry.generic.served import Served, served_of
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.media_types import JSON
from tests.registry.generic.widgets import widgets

WIRE = wire_of(JSON, is_socket=False)


async def served(clock: ManualClock) -> Served[RESTStorage]:
    async with widgets() as store:
        return served_of("v1", "widgets", store, schema.builtin(), clock)


async def test_watchers_of_one_resource_share_their_encoders() -> None:
    one, other = await served(ManualClock()), await served(ManualClock())

    assert frames_of(one, None, WIRE) is frames_of(one, None, WIRE)
    assert frames_of(one, None, WIRE) is not frames_of(other, None, WIRE)


async def test_what_is_no_longer_served_leaves_no_encoders_behind() -> None:
    clock = ManualClock()
    known = weakref.ref(clock)
    one = await served(clock)
    frames_of(one, None, WIRE)

    del one, clock
    gc.collect()

    assert known() is None

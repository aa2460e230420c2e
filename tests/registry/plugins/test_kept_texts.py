"""What the server keeps of long texts of clients after their requests: little, in each of its caches and maps.

docs/threat-model.md lists the caches with their bounds.
"""

import asyncio
import gc
import logging
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aio_apiserver.apiserver.config.repeated_warnings import RepeatedWarnings
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.worker_thread import WorkerThread
from aio_apiserver.registry.generic.access.impersonation import Impersonator
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.groups.core.events.events import EVENTS
from aio_apiserver.registry.machinery.patch.apply import elements
from aio_apiserver.registry.machinery.patch.apply.creation import _Plans
from aio_apiserver.registry.machinery.serializers.protobuf import leaf_readers
from aio_apiserver.registry.plugins.admission.event_rate_limit import EventRateLimit, Limit
from aio_apiserver.registry.plugins.admission.pods.image_policy_webhook import ImagePolicyWebhook, settings_of
from aio_apiserver.registry.plugins.flowcontrol.watch_starts import WatchStarts
from tests.registry.generic.access.test_impersonation import EVERYTHING, Deciding, listing
from tests.registry.plugins.admission.pods.test_image_policy_webhook import pod
from tests.registry.plugins.admission.writes import write

LETTERS = 100_000
TIMES = 60
MOST_BYTES = 1_000_000
"""Of the six megabytes that a cache would keep."""

Feed = Callable[[str], Awaitable[object] | object]


def watch_starts() -> Feed:
    return WatchStarts(ManualClock()).begin


def modes_of_impersonation() -> Feed:
    impersonator = Impersonator(Deciding({**EVERYTHING, "verbs": ["*"]}))

    async def feed(text: str) -> None:
        user = UserInfo(name=text, groups=("system:masters",))
        await impersonator.impersonate(UserInfo(name="jane"), listing(user))

    return feed


def users_of_the_worker_thread() -> Feed:
    moments = iter(range(10_000))
    worker = WorkerThread(lambda: float(next(moments)))
    return lambda text: worker.run(lambda: None, text)


def repeated_warnings() -> Feed:
    filter_ = RepeatedWarnings()
    return lambda text: filter_.filter(logging.LogRecord("a", logging.WARNING, "a.py", 1, text, (), None))


def limits_of_events() -> Feed:
    plugin = EventRateLimit([Limit("SourceAndObject", 10, 10)], ManualClock())
    return lambda text: plugin.validate(write({"involvedObject": {"name": text}}, resource=EVENTS.resource))


def reviews_of_images() -> Feed:
    async def allow(review: dict[str, Any]) -> dict[str, Any]:
        return {"status": {"allowed": True}}

    plugin = ImagePolicyWebhook(allow, settings_of({"imagePolicy": {"kubeConfigFile": "/k"}}), ManualClock())
    return lambda text: plugin.validate(write(pod({"a.image-policy.k8s.io/b": text})))


def times_in_protobuf() -> Feed:
    return lambda text: leaf_readers.time(b"\x08\x01\xfa\x07\xa0\x8d\x06" + text.encode())


def elements_of_lists() -> Feed:
    return lambda text: elements.of_key_values((text,), (1,))


def keys_of_maps() -> Feed:
    plans = _Plans(lambda _name: None)
    return lambda text: plans.of((text,))


@pytest.mark.parametrize(
    "cache",
    [
        *(watch_starts, modes_of_impersonation, users_of_the_worker_thread, repeated_warnings, limits_of_events),
        *(reviews_of_images, times_in_protobuf, elements_of_lists, keys_of_maps),
    ],
)
async def test_little_is_kept_of_long_texts(cache: Callable[[], Feed]) -> None:
    feed = cache()
    tracemalloc.start()
    try:
        for number in range(TIMES):
            fed = feed(f"{number:06}".ljust(LETTERS, "x"))
            if isinstance(fed, Awaitable):
                await fed
            await asyncio.sleep(0)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < MOST_BYTES


async def test_the_worker_thread_remembers_a_bounded_number_of_users() -> None:
    moments = iter(range(10_000))
    worker = WorkerThread(lambda: float(next(moments)))

    for number in range(1_500):
        await worker.run(lambda: None, f"user-{number}")

    assert len(worker._ended) <= 1_024

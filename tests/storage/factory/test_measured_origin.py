import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.measures import Counter, Tally
from aio_apiserver.storage.errors import KeyNotFound
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.factory.measured_origin import Latencies
from aio_apiserver.storage.interface import ListOptions, Resource
from aio_apiserver.storage.selection import Operator, Requirement, SelectionPredicate

PODS = Resource(group="", resource="pods", namespaced=True)
EVENTS = Resource(group="", resource="events", namespaced=True, is_cached=False)


def requests(latencies: Latencies) -> dict[tuple[str, ...], int]:
    return {labels: series.total for labels, series in latencies.durations.series.items()}


def values(tally: Tally[Counter]) -> list[float]:
    return [series.value for series in tally.series.values()]


async def test_requests_to_a_store_are_recorded_even_if_they_fail() -> None:
    latencies = Latencies()

    async with StorageFactory(StorageConfig(), clock=ManualClock(), latencies=latencies) as factory:
        storage = factory.storage_for(EVENTS)
        await storage.create("default/a", {"metadata": {"name": "a", "namespace": "default"}})
        await storage.get_list("default/", ListOptions())
        with pytest.raises(KeyNotFound):
            await storage.get("default/b")

    assert requests(latencies) == {
        ("", "create", "events"): 1,
        ("", "list", "events"): 1,
        ("", "get", "events"): 1,
    }


async def test_lists_are_recorded_by_what_they_read_and_looked_at() -> None:
    latencies = Latencies()
    only_b = SelectionPredicate(fields=(Requirement("metadata.name", Operator.IN, frozenset({"b"})),))

    async with StorageFactory(StorageConfig(), clock=ManualClock(), latencies=latencies) as factory:
        storage = factory.storage_for(EVENTS)
        for name in "abc":
            await storage.create(f"default/{name}", {"metadata": {"name": name, "namespace": "default"}})
        await storage.get_list("default/", ListOptions(predicate=only_b, limit=1))

    assert values(latencies.returned) == [1]
    assert values(latencies.fetched) == [3]
    assert values(latencies.examined) == [2]


async def test_what_a_cache_answers_is_no_request_to_the_store() -> None:
    latencies = Latencies()

    async with StorageFactory(StorageConfig(), clock=ManualClock(), latencies=latencies) as factory:
        storage = factory.storage_for(PODS)
        await storage.wait_until_ready()
        before = requests(latencies)
        await storage.get_list("", ListOptions(resource_version=0))
        after = requests(latencies)

    assert before == after

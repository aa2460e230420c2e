"""Tests the allocation of node ports."""

from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.groups.core.services.allocation.metrics import AllocationMetrics
from aio_apiserver.registry.groups.core.services.allocation.node_ports import (
    RANGES,
    DryPorts,
    NodePorts,
    PortError,
    PortSet,
)
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory

PORTS = range(30000, 30100)


@pytest.fixture
async def factory() -> AsyncIterator[StorageFactory]:
    async with StorageFactory(StorageConfig(), clock=SystemClock()) as opened:
        yield opened


def test_ports_of_the_lower_band_are_allocated_last() -> None:
    ports = PortSet(PORTS)

    chosen = [ports.take_any() for _ in PORTS]

    assert set(chosen[:84]) == set(range(30016, 30100))
    assert set(chosen[84:]) == set(range(30000, 30016))


def test_a_full_range_is_reported() -> None:
    ports = PortSet(PORTS)
    for port in PORTS:
        ports.take(port)

    with pytest.raises(PortError, match="range is full"):
        ports.take_any()


def test_used_ports_and_ports_out_of_range_are_refused() -> None:
    ports = PortSet(PORTS)
    ports.take(30001)

    with pytest.raises(PortError, match="provided port is already allocated"):
        ports.take(30001)
    with pytest.raises(PortError, match="range of valid ports is 30000-30099"):
        ports.take(30100)


def test_a_dry_run_shows_ports_and_allocates_none() -> None:
    ports = PortSet(PORTS)
    dry = DryPorts(ports)

    assert [dry.take_any(), dry.take_any()] == [32769, 32770]
    assert ports.ports() == set()


async def test_a_failed_decision_allocates_no_ports(factory: StorageFactory) -> None:
    ports = NodePorts(factory.storage_for(RANGES), PORTS, AllocationMetrics())

    def decide(stock: PortSet) -> None:
        stock.take(30001)
        stock.take(30001)

    with pytest.raises(PortError):
        await ports.change(decide)

    assert (await ports.present()).ports() == set()


async def test_ports_stay_allocated_when_the_range_changes(factory: StorageFactory) -> None:
    await NodePorts(factory.storage_for(RANGES), PORTS, AllocationMetrics()).change(lambda stock: stock.take(30050))

    moved = NodePorts(factory.storage_for(RANGES), range(30040, 30200), AllocationMetrics())
    await moved.change(lambda stock: stock.take(30150))

    assert (await moved.present()).ports() == {30050, 30150}

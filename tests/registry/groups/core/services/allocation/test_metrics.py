from aio_apiserver.base.measures import Counter, Tally
from aio_apiserver.registry.groups.core.services.allocation.metrics import AllocationMetrics
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from tests.registry.groups.core.services.allocation.cluster import Cluster

CIDR = ("10.0.0.0/24",)


def values(tally: Tally[Counter]) -> dict[tuple[str, ...], float]:
    return {labels: series.value for labels, series in tally.series.items()}


async def test_addresses_and_ports_are_counted() -> None:
    async with StorageFactory(StorageConfig()) as factory:
        cluster = Cluster(factory)
        await cluster.begin()
        await cluster.repair.run_once()

        await cluster.create("chosen", type="NodePort")
        await cluster.create("wanted", clusterIP="10.0.0.77")

    counted = cluster.given.metrics.of(AllocationMetrics)
    assert values(counted.taken) == {CIDR: 2}
    assert values(counted.left) == {CIDR: 252}
    assert values(counted.addresses) == {(*CIDR, "dynamic"): 1, (*CIDR, "static"): 1}
    assert values(counted.ports_taken) == {(): 1}
    assert values(counted.ports) == {("dynamic",): 1}

from aio_apiserver.registry.groups.core.allocation.metrics import AllocationMetrics
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from tests.registry.groups.core.allocation.cluster import Cluster

CIDR = ("10.0.0.0/24",)


async def test_addresses_and_ports_are_counted() -> None:
    async with StorageFactory(StorageConfig()) as factory:
        cluster = Cluster(factory)
        await cluster.begin()
        await cluster.repair.run_once()

        await cluster.create("chosen", type="NodePort")
        await cluster.create("wanted", clusterIP="10.0.0.77")

    told = {
        family.name: {labels: series.value for labels, series in family.series.items() if hasattr(series, "value")}
        for family in cluster.given.metrics.of(AllocationMetrics).families()
    }

    prefix = "kube_apiserver_clusterip_allocator_"
    assert told[f"{prefix}allocated_ips"] == {CIDR: 2}
    assert told[f"{prefix}available_ips"] == {CIDR: 252}
    assert told[f"{prefix}allocation_total"] == {(*CIDR, "dynamic"): 1, (*CIDR, "static"): 1}
    assert told["kube_apiserver_nodeport_allocator_allocated_ports"] == {(): 1}
    assert told["kube_apiserver_nodeport_allocator_allocation_total"] == {("dynamic",): 1}

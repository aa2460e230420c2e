"""Tests the allocation and release of addresses and ports, and their repair."""

from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.base.errors import AlreadyExists, Invalid, StatusError
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from tests.registry.groups.core.services.allocation.cluster import Cluster


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with StorageFactory(StorageConfig(), clock=SystemClock()) as factory:
        made = Cluster(factory)
        await made.begin()
        yield made


async def test_a_deleted_service_releases_addresses_and_ports(cluster: Cluster) -> None:
    spec = await cluster.create("a", type="LoadBalancer", externalTrafficPolicy="Local")
    taken = (await cluster.addresses(), await cluster.ports())

    await cluster.delete("a")

    assert taken == ({spec["clusterIP"]}, {spec["ports"][0]["nodePort"], spec["healthCheckNodePort"]})
    assert (await cluster.addresses(), await cluster.ports()) == (set(), set())


async def test_a_dry_run_allocates_nothing(cluster: Cluster) -> None:
    spec = await cluster.create("a", dry_run=True, type="NodePort")

    assert (spec["clusterIP"], spec["ports"][0]["nodePort"]) == ("10.0.0.0", 32769)
    assert (await cluster.addresses(), await cluster.ports()) == (set(), set())


async def test_a_refused_service_releases_its_allocations(cluster: Cluster) -> None:
    with pytest.raises(Invalid):
        await cluster.create("a", type="NodePort", sessionAffinity="Sometimes")

    assert (await cluster.addresses(), await cluster.ports()) == (set(), set())


async def test_a_refused_duplicate_service_releases_its_allocations(cluster: Cluster) -> None:
    spec = await cluster.create("a", type="NodePort")

    with pytest.raises(AlreadyExists):
        await cluster.create("a", type="NodePort")

    assert await cluster.addresses() == {spec["clusterIP"]}
    assert await cluster.ports() == {spec["ports"][0]["nodePort"]}


async def test_a_type_without_ports_and_addresses_releases_them(cluster: Cluster) -> None:
    await cluster.create("a", type="NodePort")

    without_ports = await cluster.change("a", type="ClusterIP")
    ports = await cluster.ports()
    without_address = await cluster.change("a", type="ExternalName", externalName="example.com")

    assert "nodePort" not in without_ports["ports"][0]
    assert ports == set()
    assert "clusterIP" not in without_address
    assert await cluster.addresses() == set()


async def test_a_refused_update_keeps_all_allocations(cluster: Cluster) -> None:
    spec = await cluster.create("a", type="NodePort")

    with pytest.raises(Invalid):
        await cluster.change("a", ports=[{"port": 80, "nodePort": 30500}], sessionAffinity="Sometimes")

    assert await cluster.ports() == {spec["ports"][0]["nodePort"]}


async def test_an_update_keeps_allocated_values_that_it_leaves_out(cluster: Cluster) -> None:
    spec = await cluster.create("a", type="NodePort")

    again = await cluster.change("a", ports=[{"port": 81}], clusterIP=None, clusterIPs=None)

    assert again["clusterIP"] == spec["clusterIP"]
    assert again["ports"][0]["nodePort"] == spec["ports"][0]["nodePort"]


async def test_ports_of_one_number_share_a_node_port(cluster: Cluster) -> None:
    ports = [{"name": "t", "port": 53, "protocol": "TCP"}, {"name": "u", "port": 53, "protocol": "UDP"}]

    spec = await cluster.create("a", type="NodePort", ports=ports)

    assert len({port["nodePort"] for port in spec["ports"]}) == 1


async def test_two_ports_with_one_kept_node_port_are_refused(cluster: Cluster) -> None:
    spec = await cluster.create("a", type="NodePort")
    node_port = spec["ports"][0]["nodePort"]

    with pytest.raises(StatusError, match=f"duplicate nodePort: {{TCP {node_port}}}"):
        await cluster.change("a", ports=[{"port": 80}, {"port": 81}])

    assert await cluster.ports() == {node_port}


async def test_an_unavailable_address_is_shown_in_the_error(cluster: Cluster) -> None:
    with pytest.raises(Invalid, match=r'Invalid value: \["1.2.3.4"\]: failed to allocate IP 1.2.3.4'):
        await cluster.create("a", clusterIP="1.2.3.4")


async def test_a_new_cluster_ip_of_a_service_is_copied_to_cluster_ips(cluster: Cluster) -> None:
    await cluster.create("a", clusterIP="10.0.0.44")

    spec = await cluster.change(
        "a", type="ExternalName", externalName="example.com", clusterIP="10.0.0.45", clusterIPs=None
    )

    assert spec["clusterIPs"] == ["10.0.0.45"]


async def test_validation_refuses_a_family_that_the_cluster_does_not_have(cluster: Cluster) -> None:
    await cluster.create("a")

    with pytest.raises(Invalid, match="may not change once set"):
        await cluster.change("a", clusterIP="None", ipFamilyPolicy="RequireDualStack")


async def test_the_oldest_service_cidr_is_used_first(cluster: Cluster) -> None:
    await cluster.add_block("another", "192.168.7.0/28")

    spec = await cluster.create("a")
    wanted = await cluster.create("b", clusterIP="192.168.7.5")

    assert spec["clusterIP"].startswith("10.0.0.")
    assert wanted["clusterIP"] == "192.168.7.5"


async def test_a_repair_releases_unused_addresses_and_ports_after_some_time(cluster: Cluster) -> None:
    spec = await cluster.create("a", type="NodePort", clusterIP="10.0.0.10")
    await cluster.leak("10.0.0.200", 30200)

    await cluster.repair.run_once()
    at_once = (await cluster.addresses(), await cluster.ports())
    cluster.clock.advance(61)
    await cluster.repair.run_once()
    await cluster.repair.run_once()

    assert at_once == ({spec["clusterIP"], "10.0.0.200"}, {spec["ports"][0]["nodePort"], 30200})
    assert await cluster.addresses() == {spec["clusterIP"]}
    assert await cluster.ports() == {spec["ports"][0]["nodePort"]}


async def test_a_repair_allocates_the_addresses_and_ports_of_services(cluster: Cluster) -> None:
    spec = await cluster.create("a", type="NodePort")
    await cluster.forget(spec["clusterIP"])
    await cluster.node_ports.free([spec["ports"][0]["nodePort"]])

    await cluster.repair.run_once()

    assert await cluster.addresses() == {spec["clusterIP"]}
    assert await cluster.ports() == {spec["ports"][0]["nodePort"]}

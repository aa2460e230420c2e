from collections.abc import AsyncIterator
from typing import Any

import pytest

from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.apiregistration.service_resolver import Resolver, ServiceAddress, Unresolved
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.registry.groups.discovery.endpointslices import ENDPOINTSLICES
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory

PORTS = [{"name": "https", "port": 443}]


@pytest.fixture
async def factory() -> AsyncIterator[StorageFactory]:
    async with StorageFactory(StorageConfig()) as opened:
        yield opened


async def keep(factory: StorageFactory, *slices: dict[str, Any], **spec: Any) -> None:
    """Store a service and its endpoint slices."""
    service = {"metadata": {"name": "s", "namespace": "n"}, "spec": {"type": "ClusterIP", "ports": PORTS, **spec}}
    await factory.storage_for(resource_of(SERVICES)).create("n/s", service)
    for number, one in enumerate(slices):
        metadata = {
            "name": f"s-{number}",
            "namespace": "n",
            "labels": {"kubernetes.io/service-name": one.pop("of", "s")},
        }
        await factory.storage_for(resource_of(ENDPOINTSLICES)).create(f"n/s-{number}", {"metadata": metadata, **one})


def endpoints(address: str, *, port: str = "https", ready: bool = True, family: str = "IPv4") -> dict[str, Any]:
    return {
        "addressType": family,
        "ports": [{"name": port, "port": 8443}],
        "endpoints": [{"addresses": [address], "conditions": {"ready": ready}}],
    }


@pytest.mark.parametrize(
    ("spec", "address"),
    [
        ({"clusterIP": "10.0.0.7"}, ServiceAddress("10.0.0.7", 443)),
        ({"type": "NodePort", "clusterIP": "10.0.0.7"}, ServiceAddress("10.0.0.7", 443)),
        ({"type": "ExternalName", "externalName": "example.com", "ports": []}, ServiceAddress("example.com", 443)),
    ],
)
async def test_a_service_is_at_its_cluster_ip_or_outside(
    factory: StorageFactory, spec: dict[str, Any], address: ServiceAddress
) -> None:
    await keep(factory, **spec)

    assert (
        await Resolver(factory.storage_for, slices=ENDPOINTSLICES, uses_endpoints=False).resolve("n", "s", 443)
        == address
    )


@pytest.mark.parametrize(
    ("spec", "port", "why"),
    [
        ({"clusterIP": "None"}, 443, 'cannot route to service with ClusterIP "None"'),
        ({"clusterIP": "10.0.0.7"}, 80, 'no service port 80 found for service "s"'),
        ({"type": "Other"}, 443, 'unsupported service type "Other"'),
    ],
)
async def test_a_service_without_address_raises_unresolved(
    factory: StorageFactory, spec: dict[str, Any], port: int, why: str
) -> None:
    await keep(factory, **spec)

    with pytest.raises(Unresolved) as raised:
        await Resolver(factory.storage_for, slices=ENDPOINTSLICES, uses_endpoints=False).resolve("n", "s", port)

    assert str(raised.value) == why


async def test_a_missing_service_is_not_found(factory: StorageFactory) -> None:
    with pytest.raises(Unresolved, match=r'service "s" not found'):
        await Resolver(factory.storage_for, slices=ENDPOINTSLICES, uses_endpoints=False).resolve("n", "s", 443)


async def test_ready_endpoints_with_the_port_are_used(factory: StorageFactory) -> None:
    slices = (
        endpoints("10.1.0.1", ready=False),
        endpoints("10.1.0.2", port="other"),
        {**endpoints("10.1.0.3"), "of": "another"},
        endpoints("10.1.0.4"),
    )
    await keep(factory, *slices, clusterIP="10.0.0.7")

    assert await Resolver(factory.storage_for, slices=ENDPOINTSLICES, uses_endpoints=True).resolve(
        "n", "s", 443
    ) == ServiceAddress("10.1.0.4", 8443)


async def test_the_first_family_of_a_service_comes_first(factory: StorageFactory) -> None:
    slices = (endpoints("10.1.0.1"), endpoints("fd00::1", family="IPv6"))
    await keep(factory, *slices, clusterIP="10.0.0.7", ipFamilies=["IPv6", "IPv4"])

    assert await Resolver(factory.storage_for, slices=ENDPOINTSLICES, uses_endpoints=True).resolve(
        "n", "s", 443
    ) == ServiceAddress("fd00::1", 8443)


async def test_without_ready_endpoints_the_resolver_raises(factory: StorageFactory) -> None:
    await keep(factory, clusterIP="10.0.0.7")

    with pytest.raises(Unresolved, match=r'no endpoints available for service "s"'):
        await Resolver(factory.storage_for, slices=ENDPOINTSLICES, uses_endpoints=True).resolve("n", "s", 443)

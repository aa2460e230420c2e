"""Tests the addresses of services that serve webhooks."""

from collections.abc import Mapping
from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from aio_apiserver.registry.groups.apiextensions.conversion.service_addresses import address_finder
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory

CLUSTER = {"type": "ClusterIP", "clusterIP": "10.0.0.7", "ports": [{"port": 443}]}


async def address(spec: Mapping[str, Any], port: int = 443) -> str:
    async with StorageFactory(StorageConfig(), clock=ManualClock()) as factory:
        services = factory.storage_for(resource_of(SERVICES))
        await services.create("n/hook", {"metadata": {"name": "hook", "namespace": "n"}, "spec": dict(spec)})
        return await address_finder(factory.storage_for)("n", "hook", port)


async def test_a_service_is_at_its_cluster_ip_and_outside_ones_at_their_name() -> None:
    assert await address(CLUSTER) == "10.0.0.7"
    assert await address({"type": "ExternalName", "externalName": "hook.example.com"}) == "hook.example.com"


@pytest.mark.parametrize(
    ("spec", "port", "why"),
    [
        ({**CLUSTER, "clusterIP": "None"}, 443, 'cannot route to service with ClusterIP "None"'),
        (CLUSTER, 8443, 'no service port 8443 found for service "hook"'),
    ],
)
async def test_a_service_without_address_is_refused_with_a_message(
    spec: Mapping[str, Any], port: int, why: str
) -> None:
    with pytest.raises(WebhookFailed, match=why):
        await address(spec, port)

"""Charging all quotas of a namespace, or none."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.core.namespaces.resourcequotas import RESOURCEQUOTAS
from aio_apiserver.registry.plugins.admission.namespaces import resource_quota
from aio_apiserver.registry.plugins.admission.namespaces.resource_quota import ResourceQuota
from aio_apiserver.storage.factory.factory import StorageConfig
from aio_apiserver.storage.interface import Storage
from tests.registry.foundations import foundation
from tests.registry.plugins.admission.writes import write

CONFIGMAP = write({"metadata": {"name": "c", "namespace": "default"}}, resource=GroupResource("", "configmaps"))


@dataclass
class Quotas:
    """The plugin and its quotas."""

    plugin: ResourceQuota
    storage: Storage

    async def add(self, name: str, limit: int, *, used: int = 0) -> None:
        status = {"hard": {"configmaps": str(limit)}, "used": {"configmaps": str(used)}}
        metadata = {"name": name, "namespace": "default"}
        await self.storage.create(f"default/{name}", {"metadata": metadata, "spec": {}, "status": status})

    async def used(self, name: str) -> str:
        quota: dict[str, Any] = (await self.storage.get(f"default/{name}")).decode()
        used: str = quota["status"]["used"]["configmaps"]
        return used


@pytest.fixture
async def quotas() -> AsyncIterator[Quotas]:
    async with foundation(clock=ManualClock(), storage=StorageConfig(watch_cache=False)) as given:
        yield Quotas(resource_quota.make(given), given.writable_storage_for(resource_of(RESOURCEQUOTAS)))


async def test_each_quota_is_charged(quotas: Quotas) -> None:
    await quotas.add("a", 2)
    await quotas.add("b", 5, used=3)

    await quotas.plugin.validate(CONFIGMAP)

    assert (await quotas.used("a"), await quotas.used("b")) == ("1", "4")


async def test_what_one_quota_refuses_costs_the_others_nothing(quotas: Quotas) -> None:
    await quotas.add("a", 2)
    await quotas.add("b", 5, used=5)
    before = await quotas.storage.get("default/a")

    with pytest.raises(errors.Forbidden, match="exceeded quota: b"):
        await quotas.plugin.validate(CONFIGMAP)

    assert (await quotas.storage.get("default/a")).revision == before.revision


@pytest.mark.parametrize(
    "attributes",
    [
        replace(CONFIGMAP, is_dry_run=True),
        replace(CONFIGMAP, resource=GroupResource("", "secrets")),
        replace(CONFIGMAP, resource=GroupResource("", "events")),
        replace(CONFIGMAP, namespace="elsewhere"),
        replace(CONFIGMAP, subresource="status"),
        write({"metadata": {}}, old={"metadata": {}}, resource=CONFIGMAP.resource),
    ],
    ids=["dry run", "another kind", "events", "another namespace", "a subresource", "an update"],
)
async def test_other_writes_cost_nothing(quotas: Quotas, attributes: Attributes) -> None:
    await quotas.add("a", 2)

    await quotas.plugin.validate(attributes)

    assert await quotas.used("a") == "0"


async def test_a_dry_run_is_refused_where_the_write_would_be(quotas: Quotas) -> None:
    await quotas.add("a", 2, used=2)

    with pytest.raises(errors.Forbidden, match="exceeded quota: a"):
        await quotas.plugin.validate(replace(CONFIGMAP, is_dry_run=True))

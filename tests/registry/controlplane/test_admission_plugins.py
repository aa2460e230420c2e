from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.controlplane import admission_plugins
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from tests.registry.foundations import foundation_on


@pytest.fixture
async def factory() -> AsyncIterator[StorageFactory]:
    async with StorageFactory(StorageConfig(), clock=ManualClock()) as opened:
        yield opened


def names(factory: StorageFactory, config: Config) -> list[str]:
    given = foundation_on(factory, config=config)
    return [plugin.name for plugin in admission_plugins.chain_of(given).plugins]


async def test_plugins_that_are_on_by_default_are_called_in_the_order_of_the_table(factory: StorageFactory) -> None:
    chosen = names(factory, Config())

    assert chosen == [row.name for row in admission_plugins.PLUGINS if row.is_default and row.make is not None]


async def test_a_disabled_plugin_is_not_called(factory: StorageFactory) -> None:
    assert "Priority" in names(factory, Config())
    assert "Priority" not in names(factory, Config(disabled_admission=("Priority",)))

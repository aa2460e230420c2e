"""All API groups together."""

from registry import schema
from registry.assembly import assemble, environment_of
from registry.providers import PROVIDERS
from registry.rest import Foundation
from storage.clock import ManualClock
from storage.factory import StorageConfig, StorageFactory


async def test_every_group_opens_and_every_kind_has_a_type() -> None:
    """The options of connections are in queries only: they have none."""
    types = schema.builtin()
    async with StorageFactory(StorageConfig(), clock=ManualClock()) as factory:
        groups = assemble(environment_of(Foundation(storage_for=factory.storage_for, clock=ManualClock(), types=types)))

        assert list(groups) == [provider.group for provider in PROVIDERS]
        for versions in groups.values():
            for version, paths in versions.items():
                for storage in (one for one in paths.values() if not hasattr(one, "connect")):
                    kind = storage.object_kind(version)
                    types.type_for(kind.group, kind.version, kind.kind)


async def test_the_versions_of_a_kind_share_one_store() -> None:
    async with StorageFactory(StorageConfig(), clock=ManualClock()) as factory:
        types = schema.builtin()
        groups = assemble(environment_of(Foundation(storage_for=factory.storage_for, clock=ManualClock(), types=types)))

        autoscaling = groups["autoscaling"]
    first, second = (autoscaling[version]["horizontalpodautoscalers"] for version in ("v2", "v1"))
    assert first is second

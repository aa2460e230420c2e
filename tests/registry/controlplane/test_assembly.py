"""All API groups together."""

from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.controlplane.providers import providers_of
from tests.registry.foundations import foundation


async def test_every_group_opens_and_every_kind_has_a_type() -> None:
    """The options of connections are in queries only: they have none."""
    async with foundation() as given:
        groups = assemble(environment_of(given))

        assert list(groups) == [provider.group.name for provider in providers_of(Minor())]
        for versions in groups.values():
            for version, paths in versions.items():
                for storage in (one for one in paths.values() if not hasattr(one, "connect")):
                    kind = storage.object_kind(version)
                    given.types.type_for(kind.group, kind.version, kind.kind)


async def test_the_versions_of_a_kind_share_one_store() -> None:
    async with foundation() as given:
        groups = assemble(environment_of(given))

        autoscaling = groups["autoscaling"]
    first, second = (autoscaling[version]["horizontalpodautoscalers"] for version in ("v2", "v1"))
    assert first is second

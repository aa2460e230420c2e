"""NamespaceLifecycle: creations, updates and deletions in a namespace."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.access.users import ANONYMOUS
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.plugins.admission.namespaces.namespace_lifecycle import IMMORTAL, NamespaceLifecycle
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory

CREATE = Attributes(
    operation=Operation.CREATE,
    resource=GroupResource("", "configmaps"),
    version="v1",
    kind=GroupVersionKind("", "v1", "ConfigMap"),
    subresource="",
    namespace="active",
    name="a",
    obj={"metadata": {"name": "a"}},
    old=None,
    options=None,
    is_dry_run=False,
    user=ANONYMOUS,
    warn=lambda _text: None,
)


@pytest.fixture
async def plugin() -> AsyncIterator[NamespaceLifecycle]:
    async with StorageFactory(StorageConfig()) as factory:
        storage = factory.storage_for(resource_of(NAMESPACES))
        for name, phase in (("active", "Active"), ("ending", "Terminating")):
            await storage.create(name, {"metadata": {"name": name}, "status": {"phase": phase}})
        yield NamespaceLifecycle(storage)


async def test_an_active_namespace_takes_new_objects(plugin: NamespaceLifecycle) -> None:
    await plugin.mutate(CREATE)


@pytest.mark.parametrize("operation", [Operation.CREATE, Operation.UPDATE])
async def test_nothing_is_written_where_there_is_no_namespace(plugin: NamespaceLifecycle, operation: Operation) -> None:
    with pytest.raises(errors.NotFound, match='namespaces "missing" not found'):
        await plugin.mutate(replace(CREATE, operation=operation, namespace="missing"))


async def test_an_ending_namespace_takes_no_new_objects(plugin: NamespaceLifecycle) -> None:
    with pytest.raises(errors.Forbidden) as caught:
        await plugin.mutate(replace(CREATE, namespace="ending"))

    assert caught.value.message == (
        'configmaps "a" is forbidden: unable to create new content in namespace ending because it is being terminated'
    )
    assert caught.value.status()["details"]["causes"][0]["reason"] == "NamespaceTerminating"


@pytest.mark.parametrize("operation", [Operation.UPDATE, Operation.DELETE])
async def test_what_is_in_an_ending_namespace_may_change_and_go(
    plugin: NamespaceLifecycle, operation: Operation
) -> None:
    await plugin.mutate(replace(CREATE, operation=operation, namespace="ending"))


@pytest.mark.parametrize("name", sorted(IMMORTAL))
async def test_some_namespaces_are_never_deleted(plugin: NamespaceLifecycle, name: str) -> None:
    deletion = replace(CREATE, operation=Operation.DELETE, resource=NAMESPACES.resource, namespace="", name=name)

    with pytest.raises(errors.Forbidden, match="this namespace may not be deleted"):
        await plugin.mutate(deletion)

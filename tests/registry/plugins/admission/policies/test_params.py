"""The parameters of admission policies, from the storage of built-in and custom kinds."""

from collections.abc import AsyncIterator
from copy import deepcopy

import pytest
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.controlplane.kind_mapping import KindMapping
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.customresourcedefinitions import DEFINITIONS
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.registry.plugins.admission.policies.params import Misconfigured, Params
from aio_apiserver.storage.interface import Resource
from tests.registry.foundations import foundation
from tests.registry.plugins.admission import writes

WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget"}
DEFINITION: Object = {
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"plural": "widgets", "kind": "Widget"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
    "status": {"conditions": [{"type": "Established", "status": "True"}]},
}
WRITE = replace(writes.write({"metadata": {"name": "c"}}, resource=CONFIGMAPS.resource), namespace="shop")


@pytest.fixture
async def given() -> AsyncIterator[Foundation]:
    async with foundation() as opened:
        definitions = opened.storage_for(resource_of(DEFINITIONS))
        await opened.writable_storage_for(resource_of(DEFINITIONS)).create("widgets.example.com", deepcopy(DEFINITION))
        yield replace(opened, kinds=KindMapping(definitions, Minor()))


async def test_a_builtin_parameter_is_read_from_the_storage_of_its_kind(given: Foundation) -> None:
    found = await Params(given).collect({"apiVersion": "v1", "kind": "Service"}, {"name": "web"}, WRITE)

    assert found == []
    await given.writable_storage_for(resource_of(SERVICES)).create(
        "shop/web", {"metadata": {"name": "web"}, "spec": {}}
    )
    [service] = await Params(given).collect({"apiVersion": "v1", "kind": "Service"}, {"name": "web"}, WRITE)
    assert service is not None
    assert service["kind"] == "Service"


async def test_a_custom_parameter_is_read_from_the_open_storage_of_its_version(given: Foundation) -> None:
    opened = given.writable_storage_for(
        Resource(group="example.com", resource="widgets", namespaced=True, view="v1", place="example.com/widgets")
    )
    for name, colour in (("a", "red"), ("b", "blue")):
        await opened.create(f"shop/{name}", {"metadata": {"name": name, "labels": {"colour": colour}}})

    found = await Params(given).collect(WIDGET, {"selector": {"matchLabels": {"colour": "blue"}}}, WRITE)

    assert [one and one["metadata"]["name"] for one in found] == ["b"]


async def test_a_custom_kind_without_an_offer_is_not_known_and_opens_no_storage(given: Foundation) -> None:
    with pytest.raises(Misconfigured, match=r"referenced by paramKind: 'example\.com/v1, Kind=Widget'"):
        await Params(given).collect(WIDGET, {"name": "a"}, WRITE)

    assert given.custom_storage("example.com", "widgets", "v1") is None

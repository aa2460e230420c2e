"""The default roles and bindings: as kube-apiserver creates them, and repaired unless their annotation forbids it."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from aio_apiserver.registry.base.timeline import DEFAULT
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.controlplane.bootstrap import namespaces, rbac
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from tests.registry.controlplane.bootstrap.test_upkeep import REFERENCE, VOLATILE
from tests.registry.foundations import foundation

GROUP = "rbac.authorization.k8s.io"
ROLES = ResourcePath(GROUP, "v1", "clusterroles")
BINDINGS = ResourcePath(GROUP, "v1", "clusterrolebindings")
KINDS = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")

Object = dict[str, Any]


@pytest.fixture
async def client() -> AsyncIterator[OwnClient]:
    async with foundation() as given:
        client = OwnClient(assemble(environment_of(given)), given)
        await namespaces.ensure(client)
        await rbac.ensure(client, DEFAULT)
        yield client


async def one(client: OwnClient, place: ResourcePath, name: str) -> Object:
    return next(obj for obj in await client.all(place) if obj["metadata"]["name"] == name)


async def changed(client: OwnClient, place: ResourcePath, name: str, change: Callable[[Object], None]) -> Object:
    """An object after another client has changed it and another server has started."""

    def apply(obj: Object) -> bool:
        change(obj)
        return True

    await client.change(place, name, apply)
    await rbac.ensure(client, DEFAULT)
    return await one(client, place, name)


def without_volatile(obj: Object) -> Object:
    metadata = {name: value for name, value in obj["metadata"].items() if name not in VOLATILE}
    return {**obj, "metadata": metadata}


@pytest.mark.parametrize("plural", KINDS)
async def test_they_are_those_of_kube_apiserver(client: OwnClient, plural: str) -> None:
    wanted = REFERENCE["objects"][f"/apis/{GROUP}/v1/{plural}"]

    made = await client.all(ResourcePath(GROUP, "v1", plural))

    assert [without_volatile(obj) for obj in made] == [
        {name: value for name, value in obj.items() if name not in ("kind", "apiVersion")} for obj in wanted
    ]


async def test_a_second_start_writes_nothing(client: OwnClient) -> None:
    before = [await client.all(ResourcePath(GROUP, "v1", plural)) for plural in KINDS]

    await rbac.ensure(client, DEFAULT)

    assert [await client.all(ResourcePath(GROUP, "v1", plural)) for plural in KINDS] == before


async def test_rights_that_are_missing_come_back_and_added_ones_stay(client: OwnClient) -> None:
    own = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}

    role = await changed(client, ROLES, "system:node-proxier", lambda obj: obj.update(rules=[own]))

    verbs = {rule["verbs"][0] for rule in role["rules"] if "nodes" in rule["resources"]}
    assert role["rules"][0] == own
    assert verbs == {"get", "list", "watch"}


async def test_subjects_that_are_missing_come_back_and_added_ones_stay(client: OwnClient) -> None:
    own = {"kind": "User", "name": "jane", "apiGroup": GROUP}

    binding = await changed(client, BINDINGS, "system:discovery", lambda obj: obj.update(subjects=[own]))

    assert [subject["name"] for subject in binding["subjects"]] == ["jane", "system:authenticated"]


async def test_what_is_not_to_be_updated_is_left_alone(client: OwnClient) -> None:
    def take_over(obj: Object) -> None:
        obj["metadata"]["annotations"]["rbac.authorization.kubernetes.io/autoupdate"] = "false"
        obj["subjects"] = None

    binding = await changed(client, BINDINGS, "system:discovery", take_over)

    assert not binding.get("subjects")


async def test_a_binding_to_another_role_is_made_anew(client: OwnClient) -> None:
    await client.delete(BINDINGS, "system:discovery")
    other = {"apiGroup": GROUP, "kind": "ClusterRole", "name": "view"}
    await client.create_missing(BINDINGS, {"metadata": {"name": "system:discovery"}, "roleRef": other})

    await rbac.ensure(client, DEFAULT)

    assert (await one(client, BINDINGS, "system:discovery"))["roleRef"]["name"] == "system:discovery"

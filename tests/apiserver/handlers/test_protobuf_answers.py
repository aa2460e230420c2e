from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.media_types import PROTOBUF
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf
from tests.apiserver.serving import Answer, as_admin, ask, running

CONFIG_MAPS = "/api/v1/namespaces/test/configmaps"
SOMETHING = GroupVersionKind("", "v1", "Status")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path) as started:
        answer = await post(started, "/api/v1/namespaces", {"metadata": {"name": "test"}})
        assert answer.status == 201
        yield started


async def post(server: Server, path: str, value: dict[str, Any]) -> Answer:
    headers = {"Accept": PROTOBUF, "Content-Type": "application/json"}
    body = orjson.dumps(value)
    return await ask(server.secure.port, path, method="POST", headers=headers, body=body, tls=as_admin(server))


async def create(server: Server, name: str) -> Answer:
    return await post(server, CONFIG_MAPS, {"metadata": {"name": name}, "data": {"k": "v"}})


async def get(server: Server, path: str, accept: str = PROTOBUF) -> Answer:
    return await ask(server.secure.port, path, headers={"Accept": accept}, tls=as_admin(server))


def value(answer: Answer) -> dict[str, Any]:
    assert answer.headers["content-type"].startswith(PROTOBUF)
    return protobuf.to_value(answer.body, builtin(), SOMETHING)


async def test_objects_come_as_protobuf(server: Server) -> None:
    created = value(await create(server, "a"))
    found = value(await get(server, f"{CONFIG_MAPS}/a"))

    assert (found["apiVersion"], found["kind"]) == ("v1", "ConfigMap")
    assert (found["metadata"]["name"], found["data"]) == ("a", {"k": "v"})
    assert found == created


async def test_lists_come_as_protobuf(server: Server) -> None:
    for number in range(60):
        await create(server, f"a-{number:02}")

    found = value(await get(server, CONFIG_MAPS))

    assert found["kind"] == "ConfigMapList"
    assert int(found["metadata"]["resourceVersion"]) > 0
    assert [item["metadata"]["name"] for item in found["items"]] == [f"a-{number:02}" for number in range(60)]


async def test_failures_come_as_protobuf(server: Server) -> None:
    answer = await get(server, f"{CONFIG_MAPS}/none")

    assert answer.status == 404
    assert value(answer)["reason"] == "NotFound"
    assert value(answer)["details"]["name"] == "none"


async def test_deletions_are_told_in_protobuf(server: Server) -> None:
    await create(server, "a")

    answer = await ask(
        server.secure.port, f"{CONFIG_MAPS}/a", method="DELETE", headers={"Accept": PROTOBUF}, tls=as_admin(server)
    )

    assert (value(answer)["kind"], value(answer)["status"]) == ("Status", "Success")


async def test_partial_metadata_comes_as_protobuf(server: Server) -> None:
    await create(server, "a")
    form = ";g=meta.k8s.io;v=v1;as="

    one = value(await get(server, f"{CONFIG_MAPS}/a", f"{PROTOBUF}{form}PartialObjectMetadata"))
    many = value(await get(server, CONFIG_MAPS, f"{PROTOBUF}{form}PartialObjectMetadataList"))

    assert (one["kind"], one["metadata"]["name"]) == ("PartialObjectMetadata", "a")
    assert [item["metadata"]["name"] for item in many["items"]] == ["a"]


@pytest.mark.parametrize(
    ("path", "kind", "member"),
    [
        ("/api", "APIVersions", "versions"),
        ("/apis", "APIGroupList", "groups"),
        ("/apis/apps", "APIGroup", "versions"),
        ("/apis/apps/v1", "APIResourceList", "resources"),
    ],
)
async def test_discovery_comes_as_protobuf(server: Server, path: str, kind: str, member: str) -> None:
    found = value(await get(server, path))
    in_json = (await get(server, path, "application/json")).json

    assert found["kind"] == kind
    assert len(found[member]) == len(in_json[member])


async def test_aggregated_discovery_comes_as_protobuf(server: Server) -> None:
    form = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

    answer = await get(server, "/apis", f"{PROTOBUF}{form}")

    assert answer.headers["content-type"] == f"{PROTOBUF}{form}"
    groups = {item["metadata"]["name"]: item for item in value(answer)["items"]}
    resources = {one["resource"]: one for one in groups["apps"]["versions"][0]["resources"]}
    assert resources["deployments"]["responseKind"]["kind"] == "Deployment"

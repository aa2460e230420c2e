"""Responses that are joined from cached encodings equal those that are encoded as a whole."""

import itertools
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from aio_apiserver.registry.machinery.schema import builtin, wire
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf.message_members import members_of
from tests.apiserver.serving import Answer, as_admin, ask, running

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PATHS = (
    "/api/v1/namespaces/n/configmaps",
    "/api/v1/namespaces/n/configmaps?limit=2",
    "/api/v1/namespaces/n/configmaps?labelSelector=none",
    "/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers",
    "/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path) as started:
        await post(started, "/api/v1/namespaces", {"metadata": {"name": "n"}})
        for name, text in (("a", "plain"), ("b", "größe \u2028 \U0001f600"), ("c", "")):
            obj = {"metadata": {"name": name, "annotations": {"note": text}}, "data": {"k": text}}
            await post(started, "/api/v1/namespaces/n/configmaps", obj)
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
        scaler = {"metadata": {"name": "h"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target}}
        await post(started, "/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers", scaler)
        yield started


async def post(server: Server, path: str, value: Mapping[str, Any]) -> None:
    headers = {"Content-Type": JSON}
    body = orjson.dumps(value)
    answer = await ask(server.secure.port, path, method="POST", headers=headers, body=body, tls=as_admin(server))
    assert answer.status == 201


async def get(server: Server, path: str, accept: str) -> Answer:
    return await ask(server.secure.port, path, headers={"Accept": accept}, tls=as_admin(server))


async def test_a_list_in_protobuf_has_the_bytes_of_the_whole_list(server: Server) -> None:
    for path in PATHS:
        whole = (await get(server, path, JSON)).json

        answers = [await get(server, path, PROTOBUF) for _ in range(2)]

        assert {answer.body for answer in answers} == {protobuf.dump(whole, builtin())}, path


@pytest.mark.parametrize("accept", [TABLE, PARTIAL_LIST])
async def test_a_list_in_another_form_says_the_same_as_when_it_is_indented(server: Server, accept: str) -> None:
    for path, include in itertools.product(PATHS, ("", "None", "Object")):
        asked = f"{path}{'&' if '?' in path else '?'}includeObject={include}"
        indented = (await get(server, asked, f"{accept};pretty=1")).json

        found = await get(server, asked, accept)

        assert without_ages(found.json) == without_ages(indented), asked
        assert list(found.json) == list(indented)
        assert found.body.endswith(b"}\n")


def without_ages(value: dict[str, Any]) -> dict[str, Any]:
    """A table without ages, which may differ between two responses."""
    columns = [column["name"] for column in value.get("columnDefinitions", ())]
    for row in value.get("rows") or ():
        row["cells"] = [cell for name, cell in zip(columns, row["cells"], strict=True) if name != "Age"]
    return value


async def test_a_list_of_metadata_in_protobuf_has_the_bytes_of_the_whole_list(server: Server) -> None:
    accept = PARTIAL_LIST.replace(JSON, PROTOBUF)
    for path in PATHS:
        whole = (await get(server, path, PARTIAL_LIST)).json

        answers = [await get(server, path, accept) for _ in range(2)]

        assert {answer.body for answer in answers} == {protobuf.dump(whole, builtin())}, path


async def test_an_object_in_protobuf_has_the_bytes_of_its_json(server: Server) -> None:
    for path in (f"{PATHS[0]}/b", f"{PATHS[3]}/h", f"{PATHS[4]}/h"):
        whole = (await get(server, path, JSON)).json

        answers = [await get(server, path, PROTOBUF) for _ in range(2)]

        assert {answer.body for answer in answers} == {protobuf.dump(whole, builtin())}, path


async def test_a_change_shows_in_every_form(server: Server) -> None:
    path = "/api/v1/namespaces/n/configmaps"
    for accept in (PROTOBUF, TABLE, PARTIAL_LIST):
        await get(server, path, accept)

    await post(server, path, {"metadata": {"name": "d"}, "data": {"one": "1", "two": "2"}})

    assert b"two" in (await get(server, path, PROTOBUF)).body
    assert [row["cells"][:2] for row in (await get(server, path, TABLE)).json["rows"]][-1] == ["d", 2]
    assert (await get(server, path, PARTIAL_LIST)).json["items"][-1]["metadata"]["name"] == "d"


async def test_watches_show_objects_in_every_form(server: Server) -> None:
    path = f"{PATHS[0]}?watch=1&timeoutSeconds=1&resourceVersion=0&allowWatchBookmarks=true"
    for accept in (PROTOBUF, TABLE, PARTIAL, PARTIAL.replace(JSON, PROTOBUF)):
        shown = (await get(server, path, accept)).body

        assert shown.count(b"ADDED") == 3, accept
        assert "größe".encode() in shown, accept


def test_items_are_the_last_member_of_every_list() -> None:
    lists = [name for name in builtin().definitions if name.endswith("List") and "items" in wire.fields(name)]

    assert len(lists) > 80
    for definition in lists:
        last = members_of(definition, builtin())[-1]
        assert (last.number, getattr(last, "name", "")) == (2, "items"), definition

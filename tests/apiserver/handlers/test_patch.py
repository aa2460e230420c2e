"""PATCH, over real sockets on a memory server."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, running

JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
MAPS = "/api/v1/namespaces/n/configmaps"
MAP = f"{MAPS}/a"
DEPLOYMENTS = "/apis/apps/v1/namespaces/n/deployments"
DEPLOYMENT = f"{DEPLOYMENTS}/d"
REFUSED = "the server rejected our request due to an error in our request"


@dataclass(frozen=True, slots=True)
class Client:
    """A client of a server with a config map `a` and a deployment `d`."""

    server: Server

    async def send(self, method: str, path: str, body: Any, content_type: str = "application/json") -> Answer:
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        headers = {"Content-Type": content_type} if content_type else {}
        port = self.server.secure.port
        return await ask(port, path, method=method, headers=headers, body=data, tls=as_admin(self.server))

    async def patch(self, body: Any, content_type: str, path: str = MAP) -> Answer:
        return await self.send("PATCH", path, body, content_type)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with running(tmp_path) as started:
        client = Client(started)
        await client.send("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
        await client.send("POST", MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
        template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"replicas": 1, "selector": {"matchLabels": {"app": "d"}}, "template": template}
        await client.send("POST", DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": spec})
        yield client


def message(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["message"]


async def test_each_language_changes_the_object(client: Client) -> None:
    await client.patch([{"op": "add", "path": "/data/json", "value": "1"}], JSON_PATCH)
    await client.patch({"data": {"merge": "2", "k": None}}, MERGE)
    answer = await client.patch({"data": {"strategic": "3"}}, f"{STRATEGIC}; charset=utf-8")

    assert (answer.status, answer.json["data"]) == (200, {"json": "1", "merge": "2", "strategic": "3"})
    assert (answer.json["kind"], answer.json["apiVersion"]) == ("ConfigMap", "v1")


async def test_a_patch_that_changes_nothing_writes_nothing(client: Client) -> None:
    before = (await client.patch([], JSON_PATCH)).json["metadata"]["resourceVersion"]

    answers = [await client.patch({"data": {"k": "v"}}, kind) for kind in (MERGE, STRATEGIC)]
    answers.append(await client.patch(b"null", JSON_PATCH))
    answers.append(await client.patch(b"null", STRATEGIC))

    assert {answer.json["metadata"]["resourceVersion"] for answer in answers} == {before}


async def test_patches_that_meet_all_take_effect(client: Client) -> None:
    patches = [
        client.patch([{"op": "add", "path": f"/data/k{index}", "value": "x"}], JSON_PATCH) for index in range(20)
    ]

    answers = await asyncio.gather(*patches)

    assert {answer.status for answer in answers} == {200}
    assert len((await client.patch([], JSON_PATCH)).json["data"]) == 21


async def test_a_patch_of_a_resource_version_is_a_precondition(client: Client) -> None:
    version = (await client.patch([], JSON_PATCH)).json["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version}, "data": {"k": "w"}}

    answers = [await client.patch(patch, MERGE) for _ in range(2)]
    broken = await client.patch({"metadata": {"resourceVersion": "abc"}}, MERGE)

    assert [answer.status for answer in answers] == [200, 409]
    assert message(broken) == (500, 'strconv.ParseUint: parsing "abc": invalid syntax')


async def test_a_dry_run_changes_nothing(client: Client) -> None:
    answer = await client.patch({"data": {"k": "w"}}, MERGE, f"{MAP}?dryRun=All")

    assert answer.json["data"] == {"k": "w"}
    assert (await client.patch([], JSON_PATCH)).json["data"] == {"k": "v"}


@pytest.mark.parametrize("content_type", ["", "application/json", "application/JSON-patch+json", "text/plain"])
async def test_other_media_types_are_refused_before_the_object_is_looked_for(client: Client, content_type: str) -> None:
    answer = await client.patch({}, content_type, f"{MAPS}/none")

    assert message(answer) == (415, "415: Unsupported Media Type")


async def test_a_media_type_that_is_only_listed_is_refused_with_those_that_are_read(client: Client) -> None:
    answer = await client.patch({}, f"text/plain, {MERGE}")

    assert answer.status == 415
    assert answer.json["message"].endswith(f"accepted media types include: {JSON_PATCH}, {MERGE}, {STRATEGIC}, {APPLY}")


@pytest.mark.parametrize("content_type", [JSON_PATCH, MERGE, STRATEGIC])
async def test_what_is_not_there_is_told_before_what_is_wrong_with_the_patch(client: Client, content_type: str) -> None:
    answer = await client.patch(b"{bad", content_type, f"{MAPS}/none")

    assert message(answer) == (404, 'configmaps "none" not found')


async def test_a_patch_creates_nothing_even_where_an_update_would(client: Client) -> None:
    answer = await client.patch({"spec": {}}, MERGE, "/apis/coordination.k8s.io/v1/namespaces/n/leases/none")

    assert message(answer) == (404, 'leases.coordination.k8s.io "none" not found')


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("fieldValidation=Bogus", 'fieldValidation: Unsupported value: "Bogus"'),
        ("force=true", "force: Forbidden: may not be specified for non-apply patch"),
        ("dryRun=Some", "dryRun: Unsupported value"),
    ],
)
async def test_options_are_checked(client: Client, query: str, found: str) -> None:
    answer = await client.patch({}, MERGE, f"{MAP}?{query}")

    assert answer.status == 422
    assert found in answer.json["message"]


@pytest.mark.parametrize(
    ("body", "content_type", "query", "expected"),
    [
        (b"", JSON_PATCH, "", (400, "error decoding patch: unexpected end of JSON input")),
        (b"", JSON_PATCH, "?fieldValidation=Ignore", (400, "unexpected end of JSON input")),
        (b"[5]", JSON_PATCH, "", (400, "error decoding patch: json: cannot unmarshal number into Go value of type "
                                       "handlers.jsonPatchOp")),
        (b"[5]", JSON_PATCH, "?fieldValidation=Ignore", (400, "json: cannot unmarshal number into Go value of type "
                                                              "jsonpatch.Operation")),
        (b"[{}]", JSON_PATCH, "", (422, REFUSED)),
        (b"[]", MERGE, "", (400, "error decoding patch: json: cannot unmarshal array into Go value of type "
                                 "map[string]interface {}")),
        (b"null", MERGE, "", (400, "Invalid JSON Patch")),
        (b"{", MERGE, "?fieldValidation=Ignore", (400, "Invalid JSON Patch")),
        (b"5", MERGE, "?fieldValidation=Ignore", (400, "Invalid JSON Patch")),
        (b"[]", STRATEGIC, "", (400, "json: cannot unmarshal array into Go value of type map[string]interface {}")),
        (b"{} x", STRATEGIC, "", (400, "invalid character 'x' after top-level value")),
        (b'{"a":' * 600 + b"1" + b"}" * 600, MERGE, "", (400, "error decoding patch: exceeded max depth")),
    ],
)  # fmt: skip
async def test_bodies_that_are_no_patches(
    client: Client, body: bytes, content_type: str, query: str, expected: tuple[int, str]
) -> None:
    assert message(await client.patch(body, content_type, MAP + query)) == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"name": "b"}, "the name of the object (b) does not match the name on the URL (a)"),
        ({"name": None}, "the name of the object (a based on URL) was undeterminable: name must be provided"),
        ({"namespace": "b"}, "the namespace of the provided object does not match the namespace sent on the request"),
    ],
)
async def test_the_object_stays_that_of_the_url(client: Client, metadata: dict[str, Any], expected: str) -> None:
    for content_type in (MERGE, STRATEGIC):
        assert message(await client.patch({"metadata": metadata}, content_type)) == (400, expected)


async def test_an_error_in_the_result_quotes_the_whole_object(client: Client) -> None:
    answer = await client.patch({"data": {"k": 5, "<": "&"}}, MERGE)

    begin, end = (
        ' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":',
        ": json: cannot unmarshal ",
    )
    assert answer.status == 422
    assert answer.json["message"].startswith(begin + '{\\"\\\\u003c\\":\\"\\\\u0026\\",\\"k\\":5}')
    assert answer.json["message"].endswith(end + "number into Go struct field ConfigMap.data of type string")
    assert answer.json["details"].keys() == {"causes"}


async def test_an_error_in_a_strategic_merge_quotes_the_patch(client: Client) -> None:
    answer = await client.patch({"data": {"k": 5}}, STRATEGIC)

    expected = ' "" is invalid: patch: Invalid value: "map[data:map[k:5]]": cannot convert int64 to string'
    assert message(answer) == (422, expected)


async def test_what_a_strategic_merge_makes_and_no_version_can_show_is_told_without_the_patch(client: Client) -> None:
    rollback = {"metadata": {"annotations": {"deprecated.deployment.rollback.to": "x"}}}

    answer = await client.patch(rollback, STRATEGIC, DEPLOYMENT)

    why = 'failed to parse annotation[deprecated.deployment.rollback.to]=x as int64: strconv.ParseInt: parsing "x"'
    assert message(answer) == (500, f"{why}: invalid syntax")


@pytest.mark.parametrize(
    ("type_members", "found"),
    [
        ({"apiVersion": "v9"}, 'no kind \\"ConfigMap\\" is registered for version \\"v9\\" in scheme'),
        ({"kind": "Secret"}, "illegal base64 data at input byte 0"),
        ({"kind": "Pod"}, "converting (v1.Pod) to (core.ConfigMap): unknown conversion"),
        ({"kind": 5}, "cannot unmarshal number into Go struct field .kind of type string"),
    ],
)
async def test_the_object_stays_of_its_kind(client: Client, type_members: dict[str, Any], found: str) -> None:
    answer = await client.patch(type_members, MERGE)

    assert answer.status == 422
    assert found.replace("\\", "") in answer.json["message"]


async def test_without_an_api_version_nothing_of_the_object_is_known(client: Client) -> None:
    answer = await client.patch([{"op": "remove", "path": "/apiVersion"}], JSON_PATCH)

    assert message(answer)[0] == 400
    assert "name must be provided" in answer.json["message"]


async def test_a_strategic_merge_does_not_look_at_the_type(client: Client) -> None:
    assert (await client.patch({"kind": "Secret", "apiVersion": "v9", "data": {"x": "1"}}, STRATEGIC)).status == 200


@pytest.mark.parametrize(
    ("body", "content_type", "found"),
    [
        (b'{"spec":{"paused":true,"paused":false,"odd":1}}', STRATEGIC,
         'duplicate field "spec.paused", unknown field "spec.odd"'),
        (b'{"spec":{"paused":true,"paused":false,"odd":1}}', MERGE,
         'duplicate field "spec.paused", unknown field "spec.odd"'),
        (b'[{"op":"add","path":"/spec/odd","value":1,"value":2,"x":1}]', JSON_PATCH,
         'json patch duplicate field "[0].value", json patch unknown field "[0].x", unknown field "spec.odd"'),
    ],
)  # fmt: skip
async def test_field_validation_refuses_warns_or_ignores(
    client: Client, body: bytes, content_type: str, found: str
) -> None:
    strict, default, warned, ignored = [
        await client.patch(body, content_type, f"{DEPLOYMENT}?fieldValidation={how}")
        for how in ("Strict", "", "Warn", "Ignore")
    ]

    assert strict.status == 422
    assert strict.json["message"].endswith(f": strict decoding error: {found}")
    assert [answer.status for answer in (default, warned, ignored)] == [200, 200, 200]
    assert "odd" in default.headers["warning"]
    assert "odd" in warned.headers["warning"]
    assert "warning" not in ignored.headers


async def test_subresources_are_patched_like_objects(client: Client) -> None:
    status = await client.patch({"status": {"replicas": 3}, "spec": {"paused": True}}, MERGE, f"{DEPLOYMENT}/status")
    scale = await client.patch(
        [{"op": "replace", "path": "/spec/replicas", "value": 5}], JSON_PATCH, f"{DEPLOYMENT}/scale"
    )
    merged = await client.patch({"spec": {"replicas": 6}}, STRATEGIC, f"{DEPLOYMENT}/scale")
    deployment = (await client.patch([], JSON_PATCH, DEPLOYMENT)).json

    assert (status.status, status.json["status"]["replicas"]) == (200, 3)
    assert (scale.json["kind"], scale.json["spec"]) == ("Scale", {"replicas": 5})
    assert merged.json["spec"] == {"replicas": 6}
    assert (deployment["spec"]["replicas"], deployment["spec"].get("paused")) == (6, None)


@pytest.mark.parametrize(("written", "shown"), [("1E3", "1E3"), ("0.50", "500m"), ("2", "2")])
async def test_numbers_of_a_patch_count_as_they_are_written(client: Client, written: str, shown: str) -> None:
    quotas = "/api/v1/namespaces/n/resourcequotas"
    await client.send("POST", quotas, {"metadata": {"name": "q"}, "spec": {"hard": {"cpu": "1"}}})

    merged = await client.patch(f'{{"spec":{{"hard":{{"cpu":{written}}}}}}}'.encode(), MERGE, f"{quotas}/q")
    operations = f'[{{"op":"add","path":"/spec/hard/memory","value":{written}}}]'.encode()
    patched = await client.patch(operations, JSON_PATCH, f"{quotas}/q")

    assert merged.json["spec"]["hard"] == {"cpu": shown}
    assert patched.json["spec"]["hard"]["memory"] == shown


async def test_a_collection_cannot_be_patched(client: Client) -> None:
    assert (await client.patch({}, MERGE, MAPS)).status == 405


async def test_owners_that_a_patch_names_twice_count_once(client: Client) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u1"}

    answer = await client.patch({"metadata": {"ownerReferences": [owner, owner]}}, MERGE)

    assert answer.json["metadata"]["ownerReferences"] == [owner]
    assert "duplicate entries after mutating admission happens" in answer.headers["warning"]

"""Server-side apply and managed fields, over real sockets on a memory server."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, running

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
MAPS = "/api/v1/namespaces/n/configmaps"
DEPLOYMENT = "/apis/apps/v1/namespaces/n/deployments/d"


@dataclass(frozen=True, slots=True)
class Client:
    """A client of a server with a namespace."""

    server: Server

    async def send(self, method: str, path: str, body: Any, **headers: str) -> Answer:
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await ask(
            self.server.secure.port, path, method=method, headers=sent, body=data, tls=as_admin(self.server)
        )

    async def apply(self, path: str, body: Any, manager: str = "me", query: str = "") -> Answer:
        return await self.send("PATCH", f"{path}?fieldManager={manager}{query}", body, Content_Type=APPLY)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with running(tmp_path) as started:
        client = Client(started)
        await client.send("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
        yield client


def configuration(name: str = "a", **data: str) -> Any:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def owners(answer: Answer) -> Any:
    """Manager, operation and subresource of the managed fields, in order."""
    entries = answer.json["metadata"].get("managedFields", ())
    return [(one["manager"], one["operation"], one.get("subresource", "")) for one in entries]


def deployment(**spec: Any) -> Any:
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"app": "d"}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


async def test_an_apply_makes_and_changes_objects(client: Client) -> None:
    answers = [await client.apply(f"{MAPS}/a", configuration(k=value)) for value in ("1", "2")]

    assert [answer.status for answer in answers] == [201, 200]
    assert answers[1].json["data"] == {"k": "2"}
    assert owners(answers[1]) == [("me", "Apply", "")]


async def test_an_apply_in_yaml_that_says_something_twice_is_told_of_it(client: Client) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: a\n  k: b\n"

    warned = await client.apply(f"{MAPS}/a", body)
    refused = await client.apply(f"{MAPS}/a", body, query="&fieldValidation=Strict")

    assert warned.headers["warning"] == '299 - "line 6: key \\"k\\" already set in map"'
    assert refused.status == 400
    assert refused.json["message"] == (
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
        '  line 6: key "k" already set in map'
    )


async def test_an_apply_without_a_manager_or_of_another_object_is_refused(client: Client) -> None:
    nobody = await client.apply(f"{MAPS}/a", configuration(), manager="")
    other = await client.apply(f"{MAPS}/b", configuration())
    known = await client.apply(f"{MAPS}/a", {**configuration(), "metadata": {"name": "a", "uid": "u"}})

    assert (nobody.status, nobody.json["details"]["causes"][0]["field"]) == (422, "fieldManager")
    assert (other.status, other.json["message"]) == (
        400,
        "the name of the object (a) does not match the name on the URL (b)",
    )
    assert (known.status, known.json["reason"]) == (409, "Conflict")


async def test_a_conflict_is_settled_by_force(client: Client) -> None:
    await client.apply(f"{MAPS}/a", configuration(k="1"), manager="one")

    refused = await client.apply(f"{MAPS}/a", configuration(k="2"), manager="two")
    forced = await client.apply(f"{MAPS}/a", configuration(k="2"), manager="two", query="&force=true")

    assert (refused.status, refused.json["message"]) == (
        409,
        'Apply failed with 1 conflict: conflict with "one": .data.k',
    )
    assert (forced.status, owners(forced)) == (200, [("two", "Apply", "")])


async def test_every_way_to_write_is_recorded_with_its_writer(client: Client) -> None:
    await client.send("POST", MAPS, configuration("w", k="1"), User_Agent="creator/1.0 (x)")
    await client.send("PUT", f"{MAPS}/w?fieldManager=putter", configuration("w", k="2", p="1"))
    patched = await client.send("PATCH", f"{MAPS}/w", {"data": {"m": "1"}}, User_Agent="patcher", Content_Type=MERGE)

    assert sorted(owners(patched)) == [(name, "Update", "") for name in ("creator", "patcher", "putter")]


async def test_status_and_scale_have_owners_of_their_own(client: Client) -> None:
    await client.apply(DEPLOYMENT, deployment(replicas=1))
    await client.send("PATCH", f"{DEPLOYMENT}/status?fieldManager=controller", {"status": {"replicas": 1}},
                      Content_Type=MERGE)  # fmt: skip

    scaled = await client.send("PATCH", f"{DEPLOYMENT}/scale?fieldManager=hpa", {"spec": {"replicas": 2}},
                               Content_Type=MERGE)  # fmt: skip

    found = await client.send("GET", DEPLOYMENT, b"")
    assert scaled.json["spec"] == {"replicas": 2}
    assert "managedFields" not in scaled.json["metadata"]
    assert owners(found) == [("me", "Apply", ""), ("hpa", "Update", "scale"), ("controller", "Update", "status")]
    assert "f:replicas" not in found.json["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]


async def test_a_write_that_changes_nothing_is_none(client: Client) -> None:
    first = await client.apply(DEPLOYMENT, deployment())

    again = await client.apply(DEPLOYMENT, deployment())
    dry = await client.apply(DEPLOYMENT, deployment(replicas=5), query="&dryRun=All")

    version = first.json["metadata"]["resourceVersion"]
    assert again.json == first.json
    assert (dry.json["spec"]["replicas"], dry.json["metadata"]["resourceVersion"]) == (5, version)


async def test_a_long_configuration_is_answered_as_a_short_one(client: Client) -> None:
    answer = await client.apply(f"{MAPS}/a", configuration(**{f"k{number}": "x" * 50 for number in range(2000)}))

    assert answer.status == 201
    assert len(answer.json["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]) == 2000

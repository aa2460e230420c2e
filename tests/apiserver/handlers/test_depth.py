"""Depth and size of values: accepted values can be read and sent back; others are refused and change nothing.

The class of CVE-2019-11253 (bombs) and CVE-2019-1002100 (patches that grow).
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from aio_apiserver.registry.base.errors import Invalid
from aio_apiserver.registry.machinery.schema import depth, field_paths
from tests.apiserver.handlers.test_custom_resources import DEFINITIONS, WIDGETS, define
from tests.apiserver.serving import Answer, as_admin, ask, running
from tests.registry.groups.apiextensions.example_definitions import definition, version

JSON, YAML = "application/json", "application/yaml"
MERGE, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
SERVICE = "/api/v1/namespaces/default/services/s"
REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"
TYPE = '"apiVersion":"example.com/v1","kind":"Widget"'
DEPTHS = [
    field_paths.MAX_DEPTH - 1,
    field_paths.MAX_DEPTH,
    depth.MOST,
    depth.WRITTEN,
    depth.WRITTEN + 1,
    500,
    1020,
    1100,
    20_000,
]


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


EVERYTHING = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """A server whose audit log has all bodies."""
    policy = tmp_path / "audit.yaml"
    policy.write_text(EVERYTHING)
    async with running(tmp_path, audit_policy_file=policy, audit_log_path=str(tmp_path / "audit.log")) as started:
        await define(started, definition("widgets", version("v1", storage=True, schema=ANYTHING), scope="Cluster"))
        await send(started, "POST", WIDGETS, f'{{{TYPE},"metadata":{{"name":"a"}},"spec":{{"b":{{}}}}}}')
        service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1}]}}
        await send(started, "POST", SERVICE.removesuffix("/s"), orjson.dumps(service).decode())
        yield started


async def send(server: Server, method: str, path: str, body: str = "", content_type: str = JSON) -> Answer:
    headers = {"Content-Type": content_type}
    return await ask(server.secure.port, path, method=method, headers=headers, body=body.encode(), tls=as_admin(server))


def writes(levels: int) -> list[tuple[str, str, str, str]]:
    """One write of each kind, with a value of so many levels in a field of any type."""
    value, half = nested(levels), nested(levels // 2)
    named = f'{{{TYPE},"metadata":{{"name":"n"}},"spec":{value}}}'
    grown = f'[{{"op":"add","path":"/spec","value":{half}}},' + (
        f'{{"op":"copy","from":"/spec","path":"/spec{"/a" * (levels // 2)}"}}]'
    )
    revision = (
        f'{{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{{"name":"n"}},"revision":1,"data":{value}}}'
    )
    return [
        ("POST", WIDGETS, named, JSON),
        ("POST", WIDGETS, named.replace('"n"', '"y"'), YAML),
        ("PUT", f"{WIDGETS}/a", named.replace('"n"', '"a"'), JSON),
        ("PATCH", f"{WIDGETS}/a", f'{{"spec":{value}}}', MERGE),
        ("PATCH", f"{WIDGETS}/a", f'[{{"op":"add","path":"/spec","value":{value}}}]', JSON_PATCH),
        ("PATCH", f"{WIDGETS}/a", f'[{{"op":"test","path":"/spec","value":{value}}}]', JSON_PATCH),
        ("PATCH", f"{WIDGETS}/a", grown, JSON_PATCH),
        ("PATCH", f"{WIDGETS}/applied?fieldManager=m", named.replace('"n"', '"applied"'), APPLY),
        ("PATCH", SERVICE, f'{{"spec":{{"ports":[{{"port":{value}}}]}}}}', STRATEGIC),
        ("PATCH", SERVICE, f'{{"unknown":{value}}}', STRATEGIC),
        ("PATCH", SERVICE, f'{{"unknown":{value}}}', MERGE),
        ("POST", REVISIONS, revision, JSON),
        ("PATCH", f"{REVISIONS}/applied?fieldManager=m", revision.replace('"n"', '"applied"'), APPLY),
        ("DELETE", f"{WIDGETS}/none", f'{{"preconditions":{value}}}', JSON),
    ]


@pytest.mark.parametrize("levels", DEPTHS)
async def test_a_deep_value_is_accepted_or_refused_and_never_a_panic(server: Server, levels: int) -> None:
    answers = [await send(server, *write) for write in writes(levels)]
    lists = [await send(server, "GET", path) for path in (WIDGETS, REVISIONS, f"{REVISIONS}?includeObject=Object")]

    assert [one.text[:300] for one in answers if one.status >= 500] == []
    assert [one.status for one in lists] == [200, 200, 200]
    if levels > depth.MOST:
        assert {one.status for one in answers} <= {400, 404, 422}
        assert [one["metadata"]["name"] for one in lists[0].json["items"]] == ["a"]


@pytest.mark.parametrize("levels", [field_paths.MAX_DEPTH - 1, depth.MOST - 2])
async def test_what_was_accepted_can_be_sent_back(server: Server, levels: int) -> None:
    created = [await send(server, *write) for write in writes(levels)]
    sent_back = []
    for (method, path, _, _), answer in zip(writes(levels), created, strict=True):
        if method == "POST" and answer.status == 201:
            target = f"{path}/{answer.json['metadata']['name']}"
            read = (await send(server, "GET", target)).json
            read["metadata"]["labels"] = {"seen": "yes"}
            sent_back.append(await send(server, "PUT", target, orjson.dumps(read).decode()))

    assert len(sent_back) >= 1
    assert [one.text[:300] for one in sent_back if one.status != 200] == []


BEYOND = (
    "18446744073709551616",
    "-9223372036854775809",
    "1" + "0" * 30,
    "1" + "0" * 400,
    "1e400",
    "0.1e-400",
    "-0",
    "1E2",
)


def numbered(number: str) -> list[tuple[str, str, str, str]]:
    """One write of each kind, with a number in fields of several types."""
    return [
        *((method, path, body.replace("1}", f"{number}}}"), kind) for method, path, body, kind in writes(1)),
        ("PATCH", SERVICE, f'{{"spec":{{"healthCheckNodePort":{number}}}}}', STRATEGIC),
        ("PATCH", SERVICE, f'{{"spec":{{"sessionAffinity":{number}}}}}', MERGE),
        ("PATCH", f"{WIDGETS}/a", f'[{{"op":"add","path":"/{number}","value":{number}}}]', JSON_PATCH),
    ]


async def test_a_number_of_any_size_is_no_panic_in_any_patch(server: Server) -> None:
    """-2**63-1 as a float has shorter digits, which are those of an integer below 64 bits."""
    answers = [await send(server, *write) for number in BEYOND for write in numbered(number)]

    assert [one.text[:300] for one in answers if one.status >= 500 and "failed to create typed" not in one.text] == []
    assert (await send(server, "GET", WIDGETS)).status == 200


def crd_with(default: str, kind: str) -> str:
    property_ = f'{{"type":"{kind}","default":{default}}}'
    schema = f'{{"type":"object","properties":{{"spec":{{"type":"object","properties":{{"x":{property_}}}}}}}}}'
    whole: dict[str, Any] = definition("bigs", kind="Big", scope="Cluster")
    whole["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": "SCHEMA"}
    return orjson.dumps({**whole, "apiVersion": "apiextensions.k8s.io/v1"}).decode().replace('"SCHEMA"', schema)


@pytest.mark.parametrize("content_type", [JSON, YAML])
@pytest.mark.parametrize("number", ["18446744073709551616", "100000000000000000000", "-9223372036854775809", "1e20"])
async def test_a_default_beyond_64_bits_is_a_float(server: Server, number: str, content_type: str) -> None:
    made = await send(server, "POST", DEFINITIONS, crd_with(number, "number"), content_type)
    read = await send(server, "GET", f"{DEFINITIONS}/bigs.example.com")

    properties = read.json["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert (made.status, made.text[:200] if made.status != 201 else "") == (201, "")
    assert properties["spec"]["properties"]["x"]["default"] == float(number)


@pytest.mark.parametrize("content_type", [JSON, YAML])
@pytest.mark.parametrize(
    "number", ["1" + "0" * 400, "1" + "0" * 5000, "0x" + "f" * 400, "1e400", "18446744073709551616"]
)
async def test_a_number_that_nothing_holds_is_refused(server: Server, number: str, content_type: str) -> None:
    answer = await send(server, "POST", DEFINITIONS, crd_with(number, "integer"), content_type)

    assert answer.status in (400, 422)


@pytest.mark.parametrize("number", ["1e20", "18446744073709551616"])
async def test_a_large_float_of_a_schema_is_served(server: Server, number: str) -> None:
    crd = crd_with("1", "number").replace('"default":1', f'"maximum":{number}')
    made = await send(server, "POST", DEFINITIONS, crd)
    read = await send(server, "GET", f"{DEFINITIONS}/bigs.example.com")

    assert (made.status, read.status) == (201, 200)
    assert read.json["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["x"][
        "maximum"
    ] == float(number)


@pytest.mark.parametrize("content_type", [JSON, YAML, MERGE, STRATEGIC, APPLY])
async def test_a_body_of_too_many_maps_is_refused(server: Server, content_type: str) -> None:
    empties = ",".join(["{}"] * (depth.MOST_VALUES + 1))
    text = f'{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"t"}},"spec":{{"ports":[{empties}]}}}}'
    is_new = content_type in (JSON, YAML)

    path = SERVICE.removesuffix("/s") if is_new else f"{SERVICE}?fieldManager=m"
    answer = await send(server, "POST" if is_new else "PATCH", path, text, content_type)

    assert answer.status in (400, 422)
    assert b"exceeded max number of maps and lists" in answer.body


async def test_brackets_in_strings_are_no_lists(server: Server) -> None:
    text = orjson.dumps({"metadata": {"name": "c"}, "data": {"a": '[{"' * depth.MOST_VALUES}}).decode()

    answer = await send(server, "POST", "/api/v1/namespaces/default/configmaps", text)

    assert answer.status == 201


async def test_an_answer_names_the_first_of_many_mistakes(server: Server) -> None:
    ports = ",".join(f'{{"name":"p{number}"}}' for number in range(Invalid.most_causes + 1))
    text = f'{{"metadata":{{"name":"m"}},"spec":{{"ports":[{ports}]}}}}'

    answer = await send(server, "POST", SERVICE.removesuffix("/s"), text)

    assert answer.status == 422
    assert len(answer.json["details"]["causes"]) == Invalid.most_causes

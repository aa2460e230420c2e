"""Custom resources over HTTP, on a memory server: definition, discovery, use and removal."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, running
from tests.registry.groups.apiextensions.example_definitions import definition, version

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/widgets"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path) as started:
        yield started


async def send(server: Server, method: str, path: str, body: Any = None) -> Answer:
    data = orjson.dumps(body) if body is not None else b""
    headers = {"Content-Type": "application/json"}
    return await ask(server.secure.port, path, method=method, headers=headers, body=data, tls=as_admin(server))


async def define(server: Server, crd: dict[str, Any]) -> None:
    """Create a definition, and return when it is established."""
    name = crd["metadata"]["name"]
    made = await send(server, "POST", DEFINITIONS, {**crd, "apiVersion": "apiextensions.k8s.io/v1"})
    assert made.status == 201, made.text
    while not is_established((await send(server, "GET", f"{DEFINITIONS}/{name}")).json):  # noqa: ASYNC110 - as a client does
        await asyncio.sleep(0)


def is_established(crd: dict[str, Any]) -> bool:
    present = crd["status"].get("conditions") or ()
    return any((one["type"], one["status"]) == ("Established", "True") for one in present)


def widget(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


async def test_what_is_defined_is_told_of_and_served(server: Server) -> None:
    before = await send(server, "GET", "/apis/example.com")
    await define(server, definition(scope="Cluster"))

    group = (await send(server, "GET", "/apis/example.com")).json
    resources = (await send(server, "GET", "/apis/example.com/v1")).json["resources"]
    created = (await send(server, "POST", WIDGETS, widget("a", size=1))).json
    listed = (await send(server, "GET", WIDGETS)).json

    assert before.status == 404
    assert group["preferredVersion"]["version"] == "v1"
    assert [one["name"] for one in resources] == ["widgets"]
    assert created["metadata"]["generation"] == 1
    assert list(listed) == ["apiVersion", "items", "kind", "metadata"]
    assert listed["items"] == [created]


async def test_what_a_client_adds_to_a_group_of_kubernetes_stands_in_it(server: Server) -> None:
    crd = definition("gadgets", kind="Gadget", scope="Cluster")
    crd["spec"]["group"] = "networking.k8s.io"
    crd["metadata"] = {
        "name": "gadgets.networking.k8s.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved, a test"},
    }

    await define(server, crd)
    groups = (await send(server, "GET", "/apis")).json["groups"]
    resources = (await send(server, "GET", "/apis/networking.k8s.io/v1")).json["resources"]

    assert [one["name"] for one in groups].count("networking.k8s.io") == 1
    assert {"gadgets", "ingresses"} <= {one["name"] for one in resources}


async def test_objects_are_judged_in_the_version_of_the_request(server: Server) -> None:
    spec = {
        "type": "object",
        "required": ["color"],
        "properties": {"color": {"type": "string"}, "size": {"type": "integer"}},
    }
    strict = {"type": "object", "properties": {"spec": spec}}
    versions = (version("v1", storage=True), version("v2", schema=strict))
    await define(server, definition("widgets", *versions, scope="Cluster"))

    one = await send(server, "POST", WIDGETS, widget("a", size=1))
    other = await send(
        server, "POST", "/apis/example.com/v2/widgets", {**widget("b", size=1), "apiVersion": "example.com/v2"}
    )

    assert one.status == 201
    assert other.status == 422
    assert other.json["details"]["causes"][0]["field"] == "spec.color"


async def test_evaluations_of_rules_are_counted_by_the_server_that_makes_them(server: Server) -> None:
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    ruled = {**spec, "x-kubernetes-validations": [{"rule": "self.size < 10"}]}
    schema = {"type": "object", "properties": {"spec": ruled}}
    await define(server, definition("widgets", version("v1", storage=True, schema=schema), scope="Cluster"))

    made = [(await send(server, "POST", WIDGETS, widget(f"a{size}", size=size))).status for size in (9, 10)]
    counts = (await send(server, "GET", "/metrics")).text

    assert made == [201, 422]
    assert "\napiserver_cel_compilation_duration_seconds_count 1\n" in counts
    assert "\napiserver_cel_evaluation_duration_seconds_count 2\n" in counts


@pytest.mark.parametrize("query", ["", "?dryRun=All"])
async def test_an_answer_has_the_defaults_of_the_version_that_is_stored(server: Server, query: str) -> None:
    spec: dict[str, Any] = {"type": "object", "properties": {"size": {"type": "integer"}, "color": {"type": "string"}}}
    stored = {**spec, "properties": {**spec["properties"], "color": {"type": "string", "default": "red"}}}
    versions = (
        version("v1", schema={"type": "object", "properties": {"spec": spec}}),
        version("v2", storage=True, schema={"type": "object", "properties": {"spec": stored}}),
    )
    await define(server, definition("widgets", *versions, scope="Cluster"))

    created = (await send(server, "POST", f"{WIDGETS}{query}", widget("a", size=1))).json

    assert created["spec"] == {"color": "red", "size": 1}
    if not query:
        assert (await send(server, "GET", f"{WIDGETS}/a")).json == created


async def test_a_definition_takes_what_it_defined_with_it(server: Server) -> None:
    await define(server, definition(scope="Cluster"))
    await send(server, "POST", WIDGETS, widget("a"))

    deleted = await send(server, "DELETE", f"{DEFINITIONS}/widgets.example.com")
    while (await send(server, "GET", f"{DEFINITIONS}/widgets.example.com")).status != 404:  # noqa: ASYNC110
        await asyncio.sleep(0)
    while (await send(server, "GET", WIDGETS)).status != 404:  # noqa: ASYNC110
        await asyncio.sleep(0)

    assert deleted.json["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert (await send(server, "GET", "/apis/example.com")).status == 404


async def test_metadata_that_cannot_be_decoded_are_told_before_another_kind(server: Server) -> None:
    await define(server, definition(scope="Cluster"))

    unfit = await send(server, "POST", WIDGETS, {**widget("a"), "kind": "Other", "metadata": {"name": 1}})
    other = await send(server, "POST", WIDGETS, {**widget("a"), "kind": "Other", "unknown": 1})

    assert "warning" not in other.headers
    assert (unfit.status, other.status) == (400, 422)
    assert unfit.json["message"].startswith(
        'Other in version "v1" cannot be handled as a Widget: json: cannot unmarshal'
    )
    assert other.json["message"] == ('Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Widget')


async def test_a_conflict_and_a_missing_object_are_told_before_another_kind(server: Server) -> None:
    await define(server, definition(scope="Cluster"))
    other = {**widget("a"), "kind": "Other"}

    missing = await send(server, "PUT", f"{WIDGETS}/a", other)
    await send(server, "POST", WIDGETS, widget("a"))
    stale = {**other, "metadata": {"name": "a", "resourceVersion": "1"}}
    conflict = await send(server, "PUT", f"{WIDGETS}/a", stale)

    assert (missing.status, conflict.status) == (404, 409)


async def test_strict_errors_that_need_no_schema_are_told_before_another_kind(server: Server) -> None:
    await define(server, definition(scope="Cluster"))
    strict = f"{WIDGETS}?fieldValidation=Strict"

    odd = await send(server, "POST", strict, {**widget("a"), "kind": "Other", "metadata": {"name": "a", "odd": 1}})
    other = await send(server, "POST", strict, {**widget("a"), "kind": "Other", "odd": 1})

    assert (odd.status, other.status) == (400, 422)
    assert odd.json["message"].endswith('as a Other: strict decoding error: unknown field "metadata.odd"')


async def test_a_version_that_is_null_is_no_text(server: Server) -> None:
    await define(server, definition(scope="Cluster"))

    answer = await send(server, "POST", WIDGETS, {**widget("a"), "apiVersion": None})

    assert answer.json["message"] == (
        'Widget in version "" cannot be handled as a Widget: '
        ".apiVersion accessor error: <nil> is of the type <nil>, expected string"
    )


async def test_rules_are_evaluated_for_another_kind_too(server: Server) -> None:
    rule = {"rule": "self.kind == 'Widget'", "message": "no widget"}
    schema = {"type": "object", "x-kubernetes-validations": [rule], "x-kubernetes-preserve-unknown-fields": True}
    await define(server, definition("widgets", version("v1", schema=schema, storage=True), scope="Cluster"))

    answer = await send(server, "POST", WIDGETS, {**widget("a"), "kind": "Other"})

    assert [(cause["field"], cause["message"]) for cause in answer.json["details"]["causes"]] == [
        ("kind", 'Invalid value: "Other": must be Widget'),
        ("<nil>", "Invalid value: no widget"),
    ]


@pytest.mark.parametrize(
    ("changed", "validation", "message"),
    [
        (
            {"apiVersion": "example.com/v2"},
            "Warn",
            "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)",
        ),
        (
            {"apiVersion": "example.com/v2", "metadata": {"name": 1}},
            "Warn",
            'Widget in version "v2" cannot be handled as a Widget: '
            "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
        ),
        (
            {"apiVersion": "example.com/v2"},
            "Strict",
            'Widget in version "v2" cannot be handled as a Widget: strict decoding error: unknown field "spec"',
        ),
        (
            {"apiVersion": "other.com/v1"},
            "Strict",
            "the API version in the data (other.com/v1) does not match the expected API version (example.com/v1)",
        ),
        (
            {"apiVersion": "", "metadata": {"odd": 1}},
            "Strict",
            "Object 'apiVersion' is missing in 'object has no apiVersion field'",
        ),
        (
            {"kind": ""},
            "Ignore",
            "Widget in version \"v1\" cannot be handled as a Widget: Object 'Kind' is missing in ",
        ),
        (
            {"kind": ""},
            "Warn",
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing",
        ),
    ],
)
async def test_an_object_of_another_version_is_told_what_kubernetes_says_first(
    server: Server, changed: dict[str, Any], validation: str, message: str
) -> None:
    await define(server, definition(scope="Cluster"))

    answer = await send(server, "POST", f"{WIDGETS}?fieldValidation={validation}", {**widget("a"), **changed})

    assert answer.status == 400
    assert answer.json["message"].startswith(message)


async def test_an_object_of_another_version_is_compared_with_the_schema_of_that_version(server: Server) -> None:
    schemas = {
        name: {"type": "object", "properties": {"spec": {"type": "object", "properties": {name: {"type": "string"}}}}}
        for name in ("v1", "v2")
    }
    versions = [version(name, schema=schema, storage=name == "v1") for name, schema in schemas.items()]
    await define(server, definition("widgets", *versions, scope="Cluster"))

    fitting, unfit = [
        await send(
            server, "POST", f"{WIDGETS}?fieldValidation=Strict", {**widget("a", **spec), "apiVersion": "example.com/v2"}
        )
        for spec in ({"v2": "x"}, {"v1": "x"})
    ]

    assert fitting.json["message"].startswith("the API version in the data (example.com/v2) does not match")
    assert unfit.json["message"].endswith('strict decoding error: unknown field "spec.v1"')

"""Past CVEs: attacks on Kubernetes that were possible once. docs/security.md lists all of them with their tests."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from aio_apiserver.apiserver.server import Server
from tests.apiserver.handlers.test_custom_resources import define
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, running, trusting
from tests.apiserver.webhook_servers import trusted, webhook
from tests.registry.groups.apiextensions.example_definitions import definition
from tests.registry.machinery.serializers.test_yaml import BOMB
from tests.storage.kv.certificates import Authority

JSON, YAML = "application/json", "application/yaml"
GROUP = "/apis/example.com/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
NODES = "/api/v1/nodes"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path) as started:
        yield started


async def send(server: Server, method: str, path: str, body: Any = b"", kind: str = JSON, **headers: str) -> Answer:
    text = body if isinstance(body, bytes) else orjson.dumps(body)
    given = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await ask(server.secure.port, path, method=method, headers=given, body=text, tls=as_admin(server))


NESTED = {
    "lists": b"[" * 100_000,
    "maps": b"{a: " * 100_000,
    "blocks": b"- " * 100_000,
    "keys": b"? " * 100_000,
    "indents": b"\n".join(b" " * level + b"a:" for level in range(1_500)),
    "anchors": BOMB,
    "anchors in maps": b"a: &a {x: 1}\n"
    + b"".join(b"%c: &%c {%b}\n" % (c, c, b",".join(b"k%d: *%c" % (n, c - 1) for n in range(9))) for c in b"bcdefghij"),
    "merged keys": b"a: &a {x: 1}\n"
    + b"".join(b"%c: &%c {<<: [%b]}\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in b"bcdefghij"),
}


async def test_a_small_text_cannot_become_a_large_or_deep_value(server: Server) -> None:
    """CVE-2019-11253 and CVE-2019-11254: YAML of some kilobytes took minutes and gigabytes."""
    answers = {kind: await send(server, "POST", MAPS, text, YAML) for kind, text in NESTED.items()}

    assert {kind for kind, answer in answers.items() if answer.status != 400} == set()


async def test_a_patch_cannot_double_a_value_again_and_again(server: Server) -> None:
    """CVE-2019-1002100: each copy of the whole data into itself doubles it."""
    await send(server, "POST", MAPS, {"metadata": {"name": "a"}, "data": {"k": "x" * 1000}})
    steps = [{"op": "copy", "from": "/data", "path": f"/data/c{number}"} for number in range(40)]

    answer = await send(server, "PATCH", f"{MAPS}/a", steps, "application/json-patch+json")

    assert answer.status in (413, 422)
    assert (await send(server, "GET", f"{MAPS}/a")).json["data"] == {"k": "x" * 1000}


async def test_a_cluster_scoped_object_has_no_place_in_a_namespace(server: Server) -> None:
    """CVE-2019-11247: the rights of a namespace were enough for objects of the cluster."""
    await define(server, definition("widgets", scope="Cluster"))
    await send(
        server,
        "POST",
        f"{GROUP}/widgets",
        {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}},
    )
    inside = f"{GROUP}/namespaces/default/widgets"

    answers = [await send(server, method, f"{inside}/a") for method in ("GET", "DELETE", "PUT", "PATCH")]
    answers += [await send(server, method, inside) for method in ("GET", "POST", "DELETE")]
    answers.append(await send(server, "GET", f"{inside}/a/status"))

    assert {one.status for one in answers} == {404}
    assert (await send(server, "GET", f"{GROUP}/widgets/a")).status == 200


async def test_a_path_reaches_no_other_resource_of_its_group(server: Server) -> None:
    """CVE-2022-3162: a name with dots and slashes read the objects of another custom resource."""
    for plural, kind in (("widgets", "Widget"), ("widgetsecrets", "WidgetSecret")):
        await define(server, definition(plural, kind=kind, scope="Namespaced"))
        body = {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": f"of-{plural}"}}
        assert (await send(server, "POST", f"{GROUP}/namespaces/default/{plural}", body)).status == 201
    climbing = (
        "..%2fwidgetsecrets%2fdefault",
        "..%2f..%2fexample.com%2fwidgetsecrets",
        "..",
        "%2e%2e%2fwidgetsecrets",
        "default%2f..%2f..%2fwidgetsecrets%2fdefault",
    )

    answers = [await send(server, "GET", f"{GROUP}/namespaces/{step}/widgets") for step in climbing]
    answers += [
        await send(server, "GET", f"{GROUP}/namespaces/default/widgets/{step}%2fof-widgetsecrets") for step in climbing
    ]
    answers += [
        await send(server, "GET", f"{GROUP}/widgets?fieldSelector=metadata.namespace%3D{step}") for step in climbing
    ]
    answers.append(await send(server, "GET", f"{GROUP}/widgets"))

    assert [one.text for one in answers if "of-widgetsecrets" in one.text and one.status == 200] == []
    assert [one["metadata"]["name"] for one in answers[-1].json["items"]] == ["of-widgets"]


async def test_a_webhook_sees_the_node_as_it_is_stored_and_as_it_will_be(tmp_path: Path) -> None:
    """CVE-2021-25735: a webhook for updates of nodes was shown the new values as the old ones."""
    authority, seen = Authority(tmp_path), []

    async def review(request: web.BaseRequest) -> web.Response:
        asked = await request.json()
        seen.append(asked["request"])
        return web.json_response({**asked, "response": {"uid": asked["request"]["uid"], "allowed": True}})

    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["nodes", "nodes/status"]}
    async with webhook(authority, review) as url, running(tmp_path / "data") as server:
        before = {
            "metadata": {"name": "n", "labels": {"l": "old"}},
            "spec": {"taints": [{"key": "old", "effect": "NoSchedule"}]},
        }
        made = (await send(server, "POST", NODES, before)).json
        hook = {"name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [rule]}
        client = {"url": url, "caBundle": trusted(authority)}
        await send(server, "POST", HOOKS, {"metadata": {"name": "h"}, "webhooks": [{**hook, "clientConfig": client}]})
        after = {
            **made,
            "metadata": {**made["metadata"], "labels": {"l": "new"}},
            "spec": {"taints": [{"key": "new", "effect": "NoSchedule"}], "unschedulable": True},
        }
        while not seen:
            await send(server, "PUT", f"{NODES}/n?dryRun=All", after)
        await send(
            server,
            "PATCH",
            f"{NODES}/n/status",
            {"metadata": {"labels": {"l": "newer"}}},
            "application/merge-patch+json",
        )

    old, new = seen[0]["oldObject"], seen[0]["object"]
    assert (old["metadata"]["labels"], old["spec"]) == (made["metadata"]["labels"], made["spec"])
    assert (new["metadata"]["labels"], new["spec"]["unschedulable"]) == ({"l": "new"}, True)
    assert [one["key"] for one in new["spec"]["taints"]] == ["new"]
    assert (seen[-1]["oldObject"]["metadata"]["labels"], seen[-1]["object"]["metadata"]["labels"]) == (
        {"l": "old"},
        {"l": "newer"},
    )


async def series(server: Server) -> int:
    return len((await send(server, "GET", "/metrics")).text.splitlines())


async def odd_requests(server: Server, first: int) -> None:
    """Requests of which each has a method, path, type and name of its own."""
    for number in range(first, first + 15):
        odd = f"odd{number}"
        await send(server, odd.upper(), f"/{odd}")
        await send(server, "GET", f"/apis/{odd}/v1/{odd}")
        await send(server, "GET", f"/api/v1/namespaces/{odd}/{odd}/{odd}")
        await send(
            server,
            "GET",
            f"/api/v1/namespaces/{odd}/configmaps?{odd}={odd}&dryRun={odd}",
            Accept=f"a/{odd}",
            User_Agent=odd,
        )
        await send(server, "POST", f"/api/v1/namespaces/default/configmaps/{odd}/{odd}", b"{}", f"a/{odd}")
        await ask(server.secure.port, f"/{odd}", headers={"Authorization": f"Bearer {odd}"}, tls=trusting(server))


async def test_odd_requests_make_no_new_series_of_metrics(server: Server) -> None:
    """CVE-2020-8552: each odd request added series, until the memory was used up."""
    await odd_requests(server, 0)
    before = await series(server)

    await odd_requests(server, 100)

    assert await series(server) - before <= 2


async def abort(server: Server, requests: bytes) -> None:
    _, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
    writer.write(requests)
    await writer.drain()
    writer.transport.abort()


async def test_requests_that_are_sent_and_given_up_leave_nothing_behind(server: Server) -> None:
    """CVE-2023-44487, rapid reset: on HTTP/1.1, pipelined requests whose connection ends at once."""
    lines = b"Host: a\r\n\r\n"
    pipelined = b"".join(b"GET /api/v1/namespaces?limit=%d HTTP/1.1\r\n%b" % (number, lines) for number in range(1, 40))

    await send(server, "GET", "/readyz")
    before = len(asyncio.all_tasks())
    for _ in range(5):
        await asyncio.gather(*(abort(server, pipelined) for _ in range(8)))
    while len(asyncio.all_tasks()) > before:  # noqa: ASYNC110 - the tasks of the server end by themselves
        await asyncio.sleep(0)

    assert (await send(server, "GET", "/readyz")).status == 200


PRIVATE = (
    *("/debug/pprof/", "/debug/pprof/profile?seconds=30", "/debug/pprof/heap", "/debug/flags/v", "/metrics"),
    *("/healthz/../debug/pprof/", "/healthz/debug/pprof/", "/livez/%2e%2e/metrics", "/logs/", "/statusz", "/flagz"),
    *("/debug/api_priority_and_fairness/dump_requests", "/configz", "/openapi/v3", "/apis", "/metrics/slis"),
)


async def test_anonymous_clients_reach_health_and_the_version_alone(server: Server) -> None:
    """CVE-2019-11248: the profiles of a process were open to everyone beside its health."""
    answers = {path: await ask(server.secure.port, path, tls=trusting(server)) for path in PRIVATE}

    assert {path for path, answer in answers.items() if answer.status not in (403, 404)} == set()
    assert (await ask(server.secure.port, "/readyz", tls=trusting(server))).status == 200

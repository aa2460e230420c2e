"""Bad input over HTTP: every response names the error. The server never fails and never hangs."""

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, read_answer, running
from tests.registry.machinery.serializers.test_yaml import BOMB

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
MAPS = "/api/v1/namespaces/n/configmaps"
MAP = f"{MAPS}/a"
DEEP = 10_000
LONG = "9" * 5000
LIMIT = 3 * 1024 * 1024

VERSIONED = "a resource version"
BODIES = {
    "empty": (b"", JSON),
    "broken JSON": (b'{"metadata": {', JSON),
    "text behind the object": (b'{"metadata": {"name": "b"}} x', JSON),
    "a list": (b"[]", JSON),
    "a number": (b"1", JSON),
    "null": (b"null", JSON),
    "NaN": (b'{"metadata": {"name": "b", "generation": NaN}}', JSON),
    "a huge integer": (b'{"metadata": {"name": "b", "generation": %b}}' % LONG.encode(), JSON),
    "an integer of 65 bits": (b'{"metadata": {"name": "b", "generation": 18446744073709551616}}', JSON),
    "a huge float": (b'{"metadata": {"name": "b", "generation": 1e999}}', JSON),
    "a negative generation": (b'{"metadata": {"name": "b", "generation": -1}}', YAML),
    "invalid UTF-8": (b'{"metadata": {"name": "\xff\xfe"}}', JSON),
    "a lone surrogate": (b'{"metadata": {"name": "\\ud800"}}', JSON),
    "a NUL": (b'{"metadata": {"name": "a\\u0000b"}}', JSON),
    "deep lists": (b'{"data": %b%b}' % (b"[" * DEEP, b"]" * DEEP), JSON),
    "deep maps": (b'{"data": %b1%b}' % (b'{"a":' * DEEP, b"}" * DEEP), JSON),
    "deeper than anybody reads": (b'{"a":' * 100_000, JSON),
    "deep YAML": (b"[" * DEEP, YAML),
    "deep blocks of YAML": (b"\n".join(b" " * n + b"a:" for n in range(1000)), YAML),
    "a YAML bomb": (BOMB, YAML),
    "an alias to nothing": (b"a: *b", YAML),
    "an alias to itself": (b"metadata: &a {name: *a}", YAML),
    "broken YAML": (b"a: [", YAML),
    "two documents": (b"a: 1\n---\nb: 2", YAML),
    "a tag": (b"!!python/object/apply:os.system [ls]", YAML),
    "a date for a text": (b"metadata: {name: 2001-01-01, labels: 5}", YAML),
    "broken protobuf": (b"k8s\x00\xff\xff\xff", PROTOBUF),
    "no protobuf": (b"{}", PROTOBUF),
    "an unknown media type": (b"{}", "text/plain"),
    "another kind": (b'{"kind": "Secret", "apiVersion": "v1"}', JSON),
    "another version": (b'{"kind": "ConfigMap", "apiVersion": "v9"}', JSON),
    "a kind that is none": (b'{"kind": {}, "apiVersion": []}', JSON),
    "a list for metadata": (b'{"metadata": []}', JSON),
    "a text for metadata": (b'{"metadata": "x"}', JSON),
    "a number for a name": (b'{"metadata": {"name": 5}}', JSON),
    "a list for labels": (b'{"metadata": {"name": "b", "labels": []}}', JSON),
    "a null for a label": (b'{"metadata": {"name": "b", "labels": {"": null}}}', JSON),
    "maps for finalizers": (b'{"metadata": {"name": "b", "finalizers": [{}]}}', JSON),
    "texts for owners": (b'{"metadata": {"name": "b", "ownerReferences": ["x"]}}', JSON),
    "a null for an owner": (b'{"metadata": {"name": "b", "ownerReferences": [null]}}', JSON),
    "a text for managed fields": (b'{"metadata": {"name": "b", "managedFields": ["x"]}}', JSON),
    "a text for a time": (b'{"metadata": {"name": "b", "creationTimestamp": "x"}}', JSON),
    "bytes that are no base64": (b'{"metadata": {"name": "b"}, "binaryData": {"k": "%"}}', JSON),
    "a path for a name": (b'{"metadata": {"name": "../a"}}', JSON),
    VERSIONED: (b'{"metadata": {"name": "b", "resourceVersion": "5"}}', JSON),
    "a huge generateName": (b'{"metadata": {"generateName": "%b!"}}' % LONG.encode(), JSON),
    "another namespace": (b'{"metadata": {"name": "b", "namespace": "m"}}', JSON),
}

DELETE_OPTIONS = {
    "broken JSON": (b"{", JSON),
    "a list": (b"[]", JSON),
    "a text for the grace": (b'{"gracePeriodSeconds": "x"}', JSON),
    "a float for the grace": (b'{"gracePeriodSeconds": 1.5}', JSON),
    "a list for the grace": (b'{"gracePeriodSeconds": []}', JSON),
    "a grace beyond 64 bits": (b'{"gracePeriodSeconds": 99999999999999999999}', JSON),
    "a text for preconditions": (b'{"preconditions": "x"}', JSON),
    "a number for an uid": (b'{"preconditions": {"uid": 5}}', JSON),
    "a text for dryRun": (b'{"dryRun": "All"}', JSON),
    "numbers for dryRun": (b'{"dryRun": [1]}', JSON),
    "another dryRun": (b'{"dryRun": ["Some"]}', JSON),
    "a text for a boolean": (b'{"orphanDependents": "x"}', JSON),
    "a number for the policy": (b'{"propagationPolicy": 5}', JSON),
    "a map for the policy": (b'{"propagationPolicy": {}}', JSON),
    "a map for the kind": (b'{"kind": {}, "apiVersion": "v1"}', JSON),
    "another policy": (b'{"propagationPolicy": "x"}', JSON),
    "another kind": (b'{"kind": "Pod", "apiVersion": "v1"}', JSON),
    "an unknown media type": (b"{}", "text/plain"),
    "broken YAML": (b"a: [", YAML),
    "broken protobuf": (b"k8s\x00\xff\xff\xff", PROTOBUF),
    "another uid": (b'{"preconditions": {"uid": "x"}}', JSON),
}

PATCHES = {
    "broken JSON": (b"[", JSON_PATCH),
    "an object": (b"{}", JSON_PATCH),
    "an unknown operation": (b'[{"op": "x", "path": "/a"}]', JSON_PATCH),
    "a huge index": (b'[{"op": "add", "path": "/metadata/finalizers/%b", "value": 1}]' % LONG.encode(), JSON_PATCH),
    "deep maps": (b'{"data": %b1%b}' % (b'{"a":' * DEEP, b"}" * DEEP), MERGE),
    "a list for a map": (b'{"metadata": []}', MERGE),
    "an unknown media type": (b"{}", "text/plain"),
}

TARGETS = {
    "a limit that is none": f"{MAPS}?limit=x",
    "a huge limit": f"{MAPS}?limit={LONG}",
    "a huge negative limit": f"{MAPS}?limit=-{LONG}",
    "a huge timeout": f"{MAPS}?watch=1&timeoutSeconds={LONG}",
    "a resource version that is none": f"{MAPS}?resourceVersion=x",
    "a huge resource version": f"{MAPS}?resourceVersion={LONG}",
    "a negative resource version": f"{MAPS}?resourceVersion=-1",
    "a match without a version": f"{MAPS}?resourceVersionMatch=Exact",
    "an unknown match": f"{MAPS}?resourceVersion=1&resourceVersionMatch=x",
    "a continue token that is none": f"{MAPS}?continue=x",
    "a continue token in bytes": f"{MAPS}?limit=1&continue=%ff%00",
    "initial events of a list": f"{MAPS}?sendInitialEvents=true",
    "a broken label selector": f"{MAPS}?labelSelector=a%20in%20(",
    "a number beyond 64 bits in a selector": f"{MAPS}?labelSelector=a%3E{LONG}",
    "a broken field selector": f"{MAPS}?fieldSelector=a",
    "an unknown field": f"{MAPS}?fieldSelector=spec.x=1",
    "a broken escape in a field selector": f"{MAPS}?fieldSelector=metadata.name=%5Cx",
    "a name that is a path": f"{MAPS}/a%2fb",
    "a name of dots": f"{MAPS}/..",
    "a name with a percent sign": f"{MAPS}/%25",
    "a name in bytes": f"{MAPS}/%ff",
    "a broken escape in a path": f"{MAPS}/%zz",
    "empty parts of a path": "/api/v1//namespaces/n//configmaps",
    "too many parts of a path": f"{MAP}/b/c/d/e",
    "an unknown subresource": f"{MAP}/x",
    "a proxy": "/api/v1/proxy/namespaces/n/configmaps/a",
    "an old watch of a subresource": "/api/v1/watch/namespaces/n/configmaps/a/status",
    "an unknown version": "/api/v9/pods",
    "an unknown group": "/apis/x/v1/y",
}

HARMLESS = {
    "unknown parameters": f"{MAP}?a=b&%zz&=&;",
    "an unknown boolean": f"{MAP}?pretty=x",
    "a negative limit": f"{MAPS}?limit=-1",
    "leading zeros": f"{MAPS}?limit=000001",
}


@dataclass(frozen=True, slots=True)
class Client:
    """A client of a server with a config map `a`."""

    server: Server

    async def send(
        self, method: str, path: str, body: bytes = b"", content_type: str = JSON, *, accept: str = JSON
    ) -> Answer:
        headers = {"Content-Type": content_type, "Accept": accept}
        tls = as_admin(self.server)
        async with asyncio.timeout(10):
            return await ask(self.server.secure.port, path, method=method, headers=headers, body=body, tls=tls)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with running(tmp_path) as started:
        client = Client(started)
        await client.send("POST", "/api/v1/namespaces", b'{"metadata": {"name": "n"}}')
        await client.send("POST", MAPS, b'{"metadata": {"name": "a"}, "data": {"k": "v"}}')
        yield client


Cases = Mapping[str, tuple[str, str, bytes, str]]
"""By the error: method, path, body and media type."""

CASES: Mapping[str, Cases] = {
    "creates": {name: ("POST", MAPS, *body) for name, body in BODIES.items() if name != VERSIONED},
    "updates": {name: ("PUT", MAP, *body) for name, body in BODIES.items()},
    "patches": {name: ("PATCH", MAP, *body) for name, body in PATCHES.items()},
    "deletions": {name: ("DELETE", MAP, *body) for name, body in DELETE_OPTIONS.items()},
    "reads": {name: ("GET", path, b"", JSON) for name, path in TARGETS.items()},
}


def is_refusal(answer: Answer) -> bool:
    """Whether a response says that the client is wrong: a Status, or a text for an unknown path."""
    if answer.headers["content-type"] != JSON:
        return answer.status in {400, 404}
    return 400 <= answer.status < 500 and answer.json["kind"] == "Status" and answer.json["code"] == answer.status


@pytest.mark.parametrize("what", CASES)
async def test_bad_input_is_refused_with_a_status(client: Client, what: str) -> None:
    answers = {name: await client.send(*case) for name, case in CASES[what].items()}

    assert {name: answer.text for name, answer in answers.items() if not is_refusal(answer)} == {}
    assert (await client.send("GET", MAP)).json["data"] == {"k": "v"}


async def test_a_create_with_a_resource_version_is_refused_in_kube_apiservers_words(client: Client) -> None:
    answer = await client.send("POST", MAPS, *BODIES[VERSIONED])

    assert (answer.status, answer.json["message"]) == (
        500,
        "resourceVersion should not be set on objects to be created",
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "Name parameter required."), ("a/b", "Name parameter invalid: \"a/b\": may not contain '/'")],
)
async def test_a_binding_says_for_which_pod_it_is(client: Client, name: str, message: str) -> None:
    body = orjson.dumps({"metadata": {"name": name}, "target": {"name": "node"}})

    answer = await client.send("POST", "/api/v1/namespaces/n/bindings", body)

    assert (answer.status, answer.json["message"]) == (400, message)


def _objects_with(text: str) -> Mapping[str, object]:
    """Objects of which a field holds JSON as text, by path."""
    named = {"metadata": {"name": "t"}}
    annotations = ("scheduler.alpha.kubernetes.io/taints", "scheduler.alpha.kubernetes.io/preferAvoidPods")
    node = {"metadata": {"name": "t", "annotations": dict.fromkeys(annotations, text)}}
    autoscaling = ("metrics", "behavior", "conditions", "current-metrics")
    keys = [f"autoscaling.alpha.kubernetes.io/{name}" for name in autoscaling]
    target = {"scaleTargetRef": {"kind": "a", "name": "b"}, "maxReplicas": 1}
    tolerating = {f"scheduler.alpha.kubernetes.io/{name}": text for name in ("tolerations", "defaultTolerations")}
    secret = base64.b64encode(text.encode()).decode()
    return {
        "/api/v1/nodes": node,
        "/api/v1/namespaces": {"metadata": {"name": "t", "annotations": tolerating}},
        "/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers": {
            "metadata": {"name": "t", "annotations": dict.fromkeys(keys, text)},
            "spec": target,
        },
        "/api/v1/namespaces/n/secrets": {
            **named,
            "type": "kubernetes.io/dockerconfigjson",
            "data": {".dockerconfigjson": secret},
        },
        f"{MAPS}?fieldManager=kubectl": {
            "metadata": {"name": "t", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": text}}
        },
    }


@pytest.mark.parametrize(
    "text",
    ["1e999", "[" * 2_000 + "]" * 2_000, '{"a":' * 900 + "1" + "}" * 900, '"\\ud800"', '[{"a":1e999}]', "{", "null"],
    ids=["infinite", "deep list", "deep map", "a surrogate", "infinite inside", "broken", "null"],
)
async def test_json_in_a_field_is_read_or_refused(client: Client, text: str) -> None:
    answers = {path: await client.send("POST", path, orjson.dumps(obj)) for path, obj in _objects_with(text).items()}
    applied = await client.send(
        "PATCH",
        f"{MAPS}/t?fieldManager=kubectl&force=true",
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"t"},"data":{"a":"b"}}',
        "application/apply-patch+yaml",
    )

    assert {path: answer.text for path, answer in answers.items() if answer.status not in (201, 422)} == {}
    assert applied.status == 200


async def test_exports_are_over(client: Client) -> None:
    answers = [await client.send("GET", f"{MAP}?export={value}") for value in ("true", "", "0")]

    assert [answer.status for answer in answers] == [400, 400, 200]
    assert answers[0].json["message"] == "the export parameter, deprecated since v1.14, is no longer supported"


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (
            MAPS,
            "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch",
        ),
        (MAP, "application/json, application/yaml, application/vnd.kubernetes.protobuf"),
        ("/version", "application/json"),
    ],
)
async def test_what_a_path_writes_is_said_to_who_accepts_nothing_of_it(client: Client, path: str, written: str) -> None:
    answer = await client.send("GET", path, accept="application/xml")

    assert (answer.status, answer.json["message"]) == (
        406,
        f"406: Not Acceptable\n\nAvailable representations: {written}",
    )


async def test_an_update_has_the_name_of_its_path(client: Client) -> None:
    answer = await client.send("PUT", MAP, b"{}")

    assert (answer.status, answer.json["message"]) == (
        400,
        "the name of the object (a based on URL) was undeterminable: name must be provided",
    )


@pytest.mark.parametrize("member", ["kind", "apiVersion"])
async def test_a_type_that_is_no_text_is_told_apart_from_a_wrong_one(client: Client, member: str) -> None:
    answer = await client.send("POST", MAPS, b'{"%b": false}' % member.encode())

    assert answer.json["message"] == (
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
        f'json: cannot unmarshal bool into Go struct field .{member} of type string ({{"{member}": false}})'
    )


async def test_what_means_nothing_is_ignored(client: Client) -> None:
    answers = {name: await client.send("GET", path) for name, path in HARMLESS.items()}

    assert {name: answer.text for name, answer in answers.items() if answer.status != 200} == {}


async def test_a_body_above_the_limit_is_refused(client: Client) -> None:
    answer = await client.send("POST", MAPS, b" " * (LIMIT + 1))

    assert answer.status == 413
    assert answer.json["reason"] == "RequestEntityTooLarge"


async def test_a_body_at_the_limit_is_read(client: Client) -> None:
    answer = await client.send("POST", MAPS, b"{" + b" " * (LIMIT - 1))

    assert answer.status == 400


async def test_a_half_sent_body_leaves_the_server_as_it_was(client: Client) -> None:
    port, tls = client.server.secure.port, as_admin(client.server)
    _, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
    writer.write(f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{{".encode())
    await writer.drain()
    writer.close()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    assert (await client.send("GET", MAPS)).json["items"][0]["metadata"]["name"] == "a"


async def test_a_request_that_is_no_http_is_refused(client: Client) -> None:
    port, tls = client.server.secure.port, as_admin(client.server)
    reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n")

    answer = await read_answer(reader)

    assert 400 <= answer.status < 500
    writer.close()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)


@pytest.mark.parametrize("accept", [JSON, YAML, PROTOBUF])
@pytest.mark.parametrize(
    ("line", "headers"),
    [(b"get /apis/a/v1/x\xe9", b""), (b"GET /api/v1/pods", b"Impersonate-User: \xff\r\n")],
    ids=["path", "header"],
)
async def test_bytes_that_are_no_text_are_answered(client: Client, line: bytes, headers: bytes, accept: str) -> None:
    port, tls = client.server.secure.port, as_admin(client.server)
    reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
    writer.write(b"%b HTTP/1.1\r\nHost: x\r\nAccept: %b\r\n%b\r\n" % (line, accept.encode(), headers))

    answer = await read_answer(reader)

    assert 400 <= answer.status < 500
    writer.close()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_a_client_of_http_1_0_can_watch(client: Client) -> None:
    port, tls = client.server.secure.port, as_admin(client.server)
    reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
    writer.write(f"GET {MAPS}?watch=1&timeoutSeconds=1 HTTP/1.0\r\nHost: x\r\n\r\n".encode())

    head = await reader.readuntil(b"\r\n\r\n")
    event = orjson.loads(await reader.readline())

    assert b"200 OK" in head
    assert b"chunked" not in head
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")
    writer.close()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_bytes_that_are_no_text_are_replaced_in_a_patch(client: Client) -> None:
    answer = await client.send("PATCH", MAP, b'{"data": {"a": "\xff"}}', MERGE)

    assert (answer.status, answer.json["data"]["a"]) == (200, "\ufffd")

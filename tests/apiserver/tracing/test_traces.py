"""Traces of a whole server on etcd, as an OpenTelemetry collector gets them."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, running, trusting
from tests.apiserver.tracing.collector import Collector, collecting, of
from tests.apiserver.webhook_servers import trusted, webhook
from tests.storage.kv.certificates import Authority
from tests.storage.kv.etcd_server import Member

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
FILTERS = ["authorization", "priorityandfairness", "constrainedimpersonation", "audit"]
NO_FIELDS: Mapping[str, str] = {}
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}


class Run:
    """What the collector has got, and the headers that the webhook has got."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.hooked: list[Mapping[str, str]] = []

    async def allow(self, request: web.Request) -> web.Response:
        self.hooked.append(dict(request.headers))
        review = await request.json()
        response = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})


class Client:
    """Requests whose audit id is their name."""

    def __init__(self, server: Server, run: Run) -> None:
        self._server = server
        self._run = run

    async def send(
        self,
        name: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        fields: Mapping[str, str] = NO_FIELDS,
        anonymous: bool = False,
    ) -> None:
        tls = trusting(self._server) if anonymous else as_admin(self._server)
        headers = {"Content-Type": "application/json", "Audit-ID": name, "User-Agent": "tests/1", **fields}
        data = orjson.dumps(body) if body is not None else b""
        self._run.answers[name] = await ask(
            self._server.secure.port, path, method=method, headers=headers, body=data, tls=tls
        )


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Collector, Run]:
    """One run of a server with a webhook, of which all tests look at the traces."""
    folder, run = tmp_path_factory.mktemp("traced"), Run()
    with Member() as etcd, collecting() as collector:
        asyncio.run(_run(folder, run, etcd.endpoint, collector.endpoint))
    return collector, run


async def _run(folder: Path, run: Run, store: str, collector: str) -> None:
    authority, config = Authority(folder), folder / "tracing.yaml"
    config.write_text(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
        f"endpoint: {collector}\nsamplingRatePerMillion: 1000000\n"
    )
    flags: dict[str, Any] = {
        "storage_backend": "etcd3",
        "etcd_servers": (store,),
        "tracing_config_file": config,
        "disable_admission_plugins": ("ServiceAccount",),
    }
    async with webhook(authority, run.allow) as url, running(folder / "server", **flags) as server:
        await _drive(Client(server, run), url, trusted(authority))


async def _drive(client: Client, url: str, bundle: str) -> None:
    hook = {
        "name": "hook.example.com",
        "clientConfig": {"url": url, "caBundle": bundle},
        "rules": [RULE],
        "objectSelector": {"matchLabels": {"hooked": "yes"}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    parent = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "vendor=1", "baggage": "tenant=blue"}
    await client.send("create", "POST", CONFIGMAPS, {"metadata": {"name": "one"}})
    await client.send("get", "GET", f"{CONFIGMAPS}/one")
    await client.send("list", "GET", f"{CONFIGMAPS}?limit=5")
    await client.send("update", "PUT", f"{CONFIGMAPS}/one", {"metadata": {"name": "one"}, "data": {"a": "b"}})
    await client.send("delete", "DELETE", f"{CONFIGMAPS}/one")
    await client.send("missing", "GET", f"{CONFIGMAPS}/none")
    await client.send("version", "GET", "/version")
    await client.send("long", "GET", f"{CONFIGMAPS}/{'x' * 50_000}")
    await client.send("continued", "GET", f"{CONFIGMAPS}/one", fields=parent)
    await client.send("unsampled", "GET", f"{CONFIGMAPS}/one", fields={"traceparent": f"00-{TRACE[:-1]}d-{SPAN}-00"})
    await client.send("stranger", "GET", "/version", anonymous=True, fields=parent)
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    await client.send("hook", "POST", path, {"metadata": {"name": "hook"}, "webhooks": [hook]})
    hooked = {"metadata": {"generateName": "h-", "labels": {"hooked": "yes"}}}
    while not client._run.hooked:  # until the server has seen the configuration
        await client.send("hooked", "POST", CONFIGMAPS, hooked)
    client._run.hooked.clear()
    await client.send("hooked-continued", "POST", CONFIGMAPS, hooked, fields=parent)


def test_a_create_is_one_trace_from_authentication_to_etcd(traced: tuple[Collector, Run]) -> None:
    tree = traced[0].of_request("create")
    route = "POST /api/v1/namespaces/{:namespace}/configmaps"

    assert tree.above("etcdserverpb.KV/Txn") == ["Create etcd3", "Create", *FILTERS, route, "authentication"]
    assert [event.name for event in tree.by_name["Create"].events] == [
        "limitedReadBody succeeded",
        "Conversion done",
        "About to store object in database",
        "Write to database call succeeded",
    ]
    assert [event.name for event in tree.by_name["Create etcd3"].events] == [
        "Encode succeeded",
        "TransformToStorage succeeded",
        "Txn call completed",
    ]
    assert traced[0].resources[0]["service.name"] == "apiserver"


def test_a_consistent_read_is_a_span_of_etcd_whether_it_is_linearizable_or_of_the_sole_member(
    traced: tuple[Collector, Run],
) -> None:
    for request in ("get", "missing"):
        assert traced[0].of_request(request).above("etcdserverpb.KV/Txn")[0] == "cacher.Get"


def test_a_span_has_the_attributes_of_kube_apiserver(traced: tuple[Collector, Run]) -> None:
    tree = traced[0].of_request("get")
    handled, whole = of(tree.by_name["Get"]), of(tree.by_name["GET /api/v1/namespaces/{:namespace}/configmaps/{:name}"])

    assert handled == {
        "accept": "",
        "audit-id": "get",
        "client": "127.0.0.1",
        "api-group": "",
        "api-version": "v1",
        "name": "one",
        "subresource": "",
        "namespace": "default",
        "protocol": "HTTP/1.1",
        "resource": "configmaps",
        "scope": "resource",
        "url": f"{CONFIGMAPS}/one",
        "user-agent": "tests/1",
        "verb": "GET",
    }
    assert whole["http.response.status_code"] == 200
    assert (whole["url.scheme"], whole["http.target"]) == ("https", f"{CONFIGMAPS}/one")
    assert of(tree.by_name["cacher.Get"]) == {"key": "default/one", "resource-version": ""}


def test_long_texts_of_a_request_are_cut_in_its_spans(traced: tuple[Collector, Run]) -> None:
    spans = traced[0].of_request("long").spans

    assert max(len(str(value)) for span in spans for value in of(span).values()) == 1_025


@pytest.mark.parametrize(
    ("request_name", "span", "inner"),
    [
        ("list", "List", "cacher.GetList"),
        ("update", "Update", "GuaranteedUpdate etcd3"),
        ("delete", "Delete", "etcdserverpb.KV/Txn"),
    ],
)
def test_each_verb_has_its_span(traced: tuple[Collector, Run], request_name: str, span: str, inner: str) -> None:
    assert span in traced[0].of_request(request_name).above(inner)


def test_other_paths_have_the_method_as_name(traced: tuple[Collector, Run]) -> None:
    assert traced[0].of_request("version").by_name["GET"].kind == 2
    missing = traced[0].of_request("missing").by_name["GET /api/v1/namespaces/{:namespace}/configmaps/{:name}"]
    assert of(missing)["http.response.status_code"] == 404


def test_a_privileged_client_s_trace_goes_on(traced: tuple[Collector, Run]) -> None:
    spans = traced[0].traces()[bytes.fromhex(TRACE)]
    first = next(span for span in spans if of(span).get("audit-id") == "continued")

    assert first.parent_span_id.hex() == SPAN
    assert first.trace_state == "vendor=1"


def test_the_client_decides_whether_its_trace_is_kept(traced: tuple[Collector, Run]) -> None:
    assert traced[1].answers["unsampled"].status == 404
    assert bytes.fromhex(TRACE[:-1] + "d") not in traced[0].traces()


def test_the_trace_of_another_user_is_linked(traced: tuple[Collector, Run]) -> None:
    (span,) = [one for one in traced[0].spans if of(one).get("audit-id") == "stranger" and one.kind == 2]

    assert span.trace_id.hex() != TRACE
    assert not span.parent_span_id
    assert [link.trace_id.hex() for link in span.links] == [TRACE]


def test_a_webhook_s_call_is_in_the_trace_and_continues_it(traced: tuple[Collector, Run]) -> None:
    spans = traced[0].traces()[bytes.fromhex(TRACE)]
    called = next(span for span in spans if span.name == "HTTP POST")
    around = next(span for span in spans if span.span_id == called.parent_span_id)
    (headers,) = traced[1].hooked

    assert around.name == "Call validating webhook"
    assert of(around)["webhook"] == "hook.example.com"
    assert of(around)["resource"] == "/v1, Resource=configmaps"
    assert headers["traceparent"] == f"00-{TRACE}-{called.span_id.hex()}-01"
    assert (headers["tracestate"], headers["baggage"]) == ("vendor=1", "tenant=blue")


async def test_a_server_needs_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "tracing.yaml"
    config.write_text("apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n")
    monkeypatch.setattr("aio_apiserver.apiserver.tracing.assembly._NEEDED", ("package_that_is_missing.module",))

    with pytest.raises(ValueError, match=r"--tracing-config-file needs OpenTelemetry: pip install 'aio-apiserver\[tr"):
        async with running(tmp_path / "server", tracing_config_file=config):
            raise AssertionError

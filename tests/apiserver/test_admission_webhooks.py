"""Admission webhooks on a whole server, over real HTTPS."""

import base64
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, running
from tests.apiserver.webhook_servers import trusted, webhook
from tests.storage.kv.certificates import Authority

Review = Mapping[str, Any]
Respond = Callable[[Review], Mapping[str, Any]]

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
ANYTHING = {
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "operations": ["*"],
    "resources": ["configmaps", "pods", "widgets"],
}


@dataclass
class Hook:
    """The reviews that a webhook got, and its response."""

    respond: Respond
    reviews: list[Any] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        review = await request.json()
        self.reviews.append(review["request"])
        response = {"uid": review["request"]["uid"], "allowed": True, **self.respond(review["request"])}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})


@dataclass
class Cluster:
    """A server and its administrator."""

    server: Server

    async def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        data = orjson.dumps(body) if body is not None else b""
        headers = {"Content-Type": "application/json"}
        tls = as_admin(self.server)
        return await ask(self.server.secure.port, path, method=method, headers=headers, body=data, tls=tls)

    async def configure(self, kind: str, url: str, bundle: str, **changes: Any) -> None:
        """Register a webhook."""
        one = {
            "name": "hook.example.com",
            "clientConfig": {"url": url, "caBundle": bundle},
            "rules": [ANYTHING],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **changes,
        }
        configuration = {"metadata": {"name": "hook"}, "webhooks": [one]}
        made = await self.ask("POST", f"{CONFIGURATIONS}/{kind.lower()}s", configuration)
        assert made.status == 201, made.text

    async def wait_until_called(self, hook: Hook) -> None:
        """Return when the server has seen the configuration."""
        while not hook.reviews:
            await self.ask("POST", f"{CONFIGMAPS}?dryRun=All", {"metadata": {"name": "probe"}})
        hook.reviews.clear()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with running(tmp_path / "server", disable_admission_plugins=("ServiceAccount",)) as server:
        yield Cluster(server)


@asynccontextmanager
async def hooked(
    cluster: Cluster, authority: Authority, kind: str, respond: Respond, **changes: Any
) -> AsyncIterator[Hook]:
    hook = Hook(respond)
    async with webhook(authority, hook.handle) as url:
        await cluster.configure(kind, url, trusted(authority), **changes)
        await cluster.wait_until_called(hook)
        yield hook


def patch(*operations: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(orjson.dumps(operations)).decode()}


async def test_a_webhook_changes_pods_and_sees_them_with_their_defaults(cluster: Cluster, authority: Authority) -> None:
    container = {"name": "side", "image": "side"}
    added = patch({"op": "add", "path": "/spec/containers/-", "value": container})

    def respond(review: Review) -> Mapping[str, Any]:
        return {**added, "warnings": ["changed"]} if review["kind"]["kind"] == "Pod" else {}

    async with hooked(cluster, authority, "MutatingWebhookConfiguration", respond) as hook:
        body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
        made = await cluster.ask("POST", "/api/v1/namespaces/default/pods", body)

    assert made.status == 201, made.text
    assert made.headers["warning"] == '299 - "changed"'
    assert made.json["spec"]["containers"][1]["imagePullPolicy"] == "Always"
    assert hook.reviews[0]["object"]["spec"]["containers"][0]["terminationMessagePath"] == "/dev/termination-log"


async def test_a_webhook_refuses_every_way_to_write(cluster: Cluster, authority: Authority) -> None:
    is_strict = False

    def respond(review: Review) -> Mapping[str, Any]:
        return {"allowed": not is_strict, "status": {"code": 418, "message": "no"}}

    def config_map(**data: str) -> Mapping[str, Any]:
        return {"metadata": {"name": "a"}, "data": data}

    async with hooked(cluster, authority, "ValidatingWebhookConfiguration", respond) as hook:
        await cluster.ask("POST", CONFIGMAPS, config_map(k="1"))
        is_strict = True
        hook.reviews.clear()
        answers = [
            await cluster.ask("POST", CONFIGMAPS, {"metadata": {"generateName": "b-"}}),
            await cluster.ask("PUT", f"{CONFIGMAPS}/a", config_map(k="2")),
            await cluster.ask("DELETE", f"{CONFIGMAPS}/a"),
            await cluster.ask("DELETE", CONFIGMAPS),
        ]

    assert {(one.status, one.json["message"]) for one in answers} == {
        (418, 'admission webhook "hook.example.com" denied the request: no')
    }
    assert [one["operation"] for one in hook.reviews] == ["CREATE", "UPDATE", "DELETE", "DELETE"]
    assert hook.reviews[0]["name"].startswith("b-")
    assert [hook.reviews[2].get("name"), hook.reviews[3].get("name")] == ["a", None]


async def test_custom_resources_lose_what_their_schema_does_not_know(cluster: Cluster, authority: Authority) -> None:
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Widget", "plural": "widgets"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    await cluster.ask(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {"metadata": {"name": "widgets.example.com"}, "spec": spec},
    )
    change = patch({"op": "add", "path": "/size", "value": 7}, {"op": "add", "path": "/odd", "value": True})

    def respond(review: Review) -> Mapping[str, Any]:
        return change if review["kind"]["kind"] == "Widget" else {}

    async with hooked(cluster, authority, "MutatingWebhookConfiguration", respond):
        while (await cluster.ask("GET", WIDGETS)).status == 404:
            continue
        body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
        made = await cluster.ask("POST", WIDGETS, body)

    assert made.status == 201, made.text
    assert made.json["size"] == 7
    assert "odd" not in made.json


async def test_configurations_are_never_sent_to_webhooks(cluster: Cluster, authority: Authority) -> None:
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}

    def respond(review: Review) -> Mapping[str, Any]:
        return {"allowed": review["kind"]["kind"] == "ConfigMap"}

    async with hooked(cluster, authority, "ValidatingWebhookConfiguration", respond, rules=[everything]):
        refused = await cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
        deleted = await cluster.ask("DELETE", f"{CONFIGURATIONS}/validatingwebhookconfigurations/hook")

    assert refused.status == 400
    assert deleted.status == 200


@pytest.mark.parametrize(("policy", "status"), [("Fail", 500), ("Ignore", 201)])
async def test_a_webhook_that_lies_about_its_tls_fails_as_its_policy_says(
    cluster: Cluster, authority: Authority, tmp_path: Path, policy: str, status: int
) -> None:
    other = Authority(tmp_path, "other")
    hook = Hook(lambda _review: {})
    async with webhook(authority, hook.handle) as url:
        await cluster.configure("ValidatingWebhookConfiguration", url, trusted(other), failurePolicy=policy)
        while True:
            made = await cluster.ask("POST", f"{CONFIGMAPS}?dryRun=All", {"metadata": {"name": "a"}})
            if policy == "Ignore" or made.status != 201:
                break

    assert made.status == status
    assert hook.reviews == []
    if status == 500:
        why = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        assert made.json["message"].endswith(f'Post "{url}?timeout=10s": {why}')

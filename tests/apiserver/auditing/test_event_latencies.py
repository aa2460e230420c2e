"""Event latencies: the audit event of a slow request tells where its time went."""

import time
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.server import Server
from aio_apiserver.base.clock import ManualClock
from tests.apiserver.serving import LOOPBACK, as_admin, ask
from tests.apiserver.webhook_servers import trusted, webhook
from tests.storage.kv.certificates import Authority

POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
HOOKS = "/apis/admissionregistration.k8s.io/v1"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
PREFIX = "apiserver.latency.k8s.io/"


class SlowWebhook:
    """Takes 0.625 s of the server's clock for each mutating call, 0.25 s for each validating one."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.calls = 0

    async def review(self, request: web.Request) -> web.Response:
        self._clock.advance(0.625 if request.path.endswith("/mutate") else 0.25)
        self.calls += 1
        review = await request.json()
        response = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})


async def test_a_slow_request_is_annotated_with_the_time_of_its_webhooks(tmp_path: Path) -> None:
    policy, log, clock = tmp_path / "policy.yaml", tmp_path / "audit.log", ManualClock(float(int(time.time())))
    policy.write_text(POLICY)
    authority, slow = Authority(tmp_path), SlowWebhook(clock)
    settings = Settings(
        data_dir=tmp_path / "server",
        storage_backend="memory",
        bind_address=LOOPBACK,
        secure_port=0,
        audit_policy_file=policy,
        audit_log_path=log,
        disable_admission_plugins=("ServiceAccount",),
    )
    started = await server.start(settings, clock=clock)
    try:
        await started.wait_until_ready()
        async with webhook(authority, slow.review) as url:
            await _configure(started, url, trusted(authority))
            while slow.calls < 2:  # until the server has seen both configurations
                slow.calls = 0
                await _post(started, CONFIGMAPS, {"metadata": {"generateName": "c-"}})
            await _post(started, CONFIGMAPS, {"metadata": {"generateName": "c-"}})  # what is made at first use is there
    finally:
        await started.stop()

    assert _latencies(log) == {"mutating-webhook": "625ms", "validating-webhook": "250ms", "total": "875ms"}


async def _configure(started: Server, url: str, bundle: str) -> None:
    for kind, path in (("validating", "/validate"), ("mutating", "/mutate")):
        hook = {
            "name": f"{kind}.example.com",
            "clientConfig": {"url": url.replace("/convert", path), "caBundle": bundle},
            "rules": [RULE],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        await _post(started, f"{HOOKS}/{kind}webhookconfigurations", {"metadata": {"name": "h"}, "webhooks": [hook]})


async def _post(started: Server, path: str, body: Any) -> None:
    fields = {"Content-Type": "application/json"}
    answer = await ask(
        started.secure.port, path, method="POST", body=orjson.dumps(body), headers=fields, tls=as_admin(started)
    )
    assert answer.status == 201


def _latencies(log: Path) -> dict[str, str]:
    """The annotations of the last create of a config map."""
    events = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    found = [event for event in events if event["requestURI"] == CONFIGMAPS and event["verb"] == "create"]
    annotations = found[-1]["annotations"]
    return {name.removeprefix(PREFIX): text for name, text in annotations.items() if name.startswith(PREFIX)}

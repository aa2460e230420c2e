"""Auditing on real servers: events, backends, and refused policies."""

import asyncio
import base64
import ssl
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from aio_apiserver.apiserver.auditing.assembly import open_audit
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.apiserver.outgoing.webhooks import WebhookClient
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.base.clock import SystemClock
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, bearer, running, trusting
from tests.apiserver.webhook_servers import no_service

BEGIN = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
SECRETS_BY_NAME = """\
omitStages: [RequestReceived]
rules:
- {level: None, nonResourceURLs: ["/livez*"]}
- {level: Metadata, resources: [{group: "", resources: [secrets]}]}
- {level: RequestResponse, omitManagedFields: true}
"""
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
CONFIGMAP = {"metadata": {"name": "c"}, "data": {"k": "v"}}


def written(tmp_path: Path, rules: str = SECRETS_BY_NAME) -> dict[str, Any]:
    """The flags for a policy and a log."""
    (tmp_path / "policy.yaml").write_text(BEGIN + rules)
    return {"audit_policy_file": tmp_path / "policy.yaml", "audit_log_path": tmp_path / "audit.log"}


def events(tmp_path: Path) -> list[dict[str, Any]]:
    """The events of clients with the user agent `test`."""
    lines = map(orjson.loads, (tmp_path / "audit.log").read_bytes().splitlines())
    return [event for event in lines if event.get("userAgent") == "test"]


async def send(
    started: Server, target: str, body: Any = None, *, method: str = "", tls: ssl.SSLContext | None = None, **more: str
) -> Answer:
    data = b"" if body is None else orjson.dumps(body)
    headers = {"Content-Type": "application/json", "User-Agent": "test"}
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
    method = method or ("GET" if body is None else "POST")
    tls = tls or as_admin(started)
    return await ask(started.secure.port, target, method=method, body=data, headers=headers, tls=tls)


async def test_a_write_is_recorded_with_its_bodies_and_the_decision(tmp_path: Path) -> None:
    async with running(tmp_path / "data", **written(tmp_path)) as started:
        answer = await send(started, f"{CONFIGMAPS}?fieldManager=me", CONFIGMAP, Audit_ID="one")
        await send(
            started,
            f"{CONFIGMAPS}/c",
            {"data": {"k": "w"}},
            method="PATCH",
            Content_Type="application/merge-patch+json",
        )

        await send(
            started,
            f"{CONFIGMAPS}/c",
            [{"op": "remove", "path": "/data"}],
            method="PATCH",
            Content_Type="application/json-patch+json",
        )

    created, patched, stepped = events(tmp_path)
    bare = answer.json
    del bare["metadata"]["managedFields"]
    assert (created["auditID"], created["stage"], created["verb"]) == ("one", "ResponseComplete", "create")
    assert created["requestURI"] == f"{CONFIGMAPS}?fieldManager=me"
    assert created["objectRef"] == {"resource": "configmaps", "namespace": "default", "name": "c", "apiVersion": "v1"}
    assert created["requestObject"] == {"kind": "ConfigMap", "apiVersion": "v1", **CONFIGMAP}
    assert created["responseObject"] == bare
    assert created["responseStatus"] == {"metadata": {}, "code": 201}
    assert created["annotations"]["authorization.k8s.io/decision"] == "allow"
    assert (patched["requestObject"], patched["verb"]) == ({"data": {"k": "w"}}, "patch")
    assert stepped["requestObject"] == [{"op": "remove", "path": "/data"}]


async def test_of_secrets_nothing_but_metadata_is_recorded(tmp_path: Path) -> None:
    async with running(tmp_path / "data", **written(tmp_path)) as started:
        await send(started, "/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {"k": "v"}})
        await send(started, "/livez")

    (created,) = events(tmp_path)
    assert (created["level"], created["objectRef"]["name"]) == ("Metadata", "s")
    assert not {"requestObject", "responseObject"} & set(created)


async def test_refusals_are_recorded_for_every_client(tmp_path: Path) -> None:
    async with running(tmp_path / "data", **written(tmp_path)) as started:
        await send(started, f"{CONFIGMAPS}/none")
        await send(started, CONFIGMAPS, Impersonate_User="jane")
        await send(started, CONFIGMAPS, tls=trusting(started), **bearer("wrong"))
        await send(started, CONFIGMAPS, tls=trusting(started))

    missing, impersonated, unknown, anonymous = events(tmp_path)
    assert (missing["responseStatus"]["reason"], missing["responseStatus"]["code"]) == ("NotFound", 404)
    assert impersonated["impersonatedUser"] == {"username": "jane", "groups": ["system:authenticated"]}
    assert impersonated["annotations"]["authorization.k8s.io/decision"] == "forbid"
    assert (unknown["stage"], unknown["user"]) == ("ResponseStarted", {})
    assert unknown["responseStatus"] == {
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }
    assert (anonymous["user"]["username"], anonymous["responseStatus"]["code"]) == ("system:anonymous", 403)


async def test_a_watch_is_recorded_when_it_begins_and_when_it_ends(tmp_path: Path) -> None:
    async with running(tmp_path / "data", **written(tmp_path)) as started:
        await send(started, f"{CONFIGMAPS}?watch=1&timeoutSeconds=1", X_Forwarded_For="10.1.2.3, nonsense")

    begun, ended = events(tmp_path)
    assert [begun["stage"], ended["stage"]] == ["ResponseStarted", "ResponseComplete"]
    assert begun["responseStatus"] == {"metadata": {}, "code": 200}
    assert begun["sourceIPs"] == ["10.1.2.3", LOOPBACK]


async def test_policies_of_admission_and_pod_security_leave_notes(tmp_path: Path) -> None:
    registration = "/apis/admissionregistration.k8s.io/v1"
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
    policy = {
        "metadata": {"name": "audited"},
        "spec": {
            "matchConstraints": {"resourceRules": rules},
            "validations": [{"expression": "false", "message": "no"}],
            "auditAnnotations": [{"key": "who", "valueExpression": "'name: ' + object.metadata.name"}],
        },
    }
    binding = {
        "metadata": {"name": "here"},
        "spec": {"policyName": "audited", "validationActions": ["Audit"]},
    }
    namespace = {"metadata": {"name": "strict", "labels": {"pod-security.kubernetes.io/audit": "baseline"}}}
    pod = {"metadata": {"name": "p"}, "spec": {"hostPID": True, "containers": [{"name": "c", "image": "i"}]}}
    flags = {**written(tmp_path), "disable_admission_plugins": ("ServiceAccount",)}
    async with running(tmp_path / "data", **flags) as started:
        await send(started, f"{registration}/validatingadmissionpolicies", policy)
        await send(started, f"{registration}/validatingadmissionpolicybindings", binding)
        await send(started, "/api/v1/namespaces", namespace)
        await send(started, CONFIGMAPS, CONFIGMAP)
        await send(started, "/api/v1/namespaces/strict/pods", pod)

    configmap, secured = (event["annotations"] for event in events(tmp_path)[-2:])
    assert configmap["audited/who"] == "name: c"
    assert orjson.loads(configmap["validation.policy.admission.k8s.io/validation_failure"]) == [
        {"message": "no", "policy": "audited", "binding": "here", "expressionIndex": 0, "validationActions": ["Audit"]}
    ]
    assert secured["pod-security.kubernetes.io/enforce-policy"] == "privileged:latest"
    assert secured["pod-security.kubernetes.io/audit-violations"] == (
        'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)'
    )


async def test_tokens_that_are_given_out_are_known_by_what_is_no_secret(tmp_path: Path) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    rules = "rules: [{level: Metadata, resources: [{resources: [serviceaccounts/token]}]}]\n"
    async with running(tmp_path / "data", **written(tmp_path, rules)) as started:
        await send(started, accounts, {"metadata": {"name": "jane"}})
        made = await send(started, f"{accounts}/jane/token", {"spec": {}})
        review = {"spec": {"token": made.json["status"]["token"]}}
        known = await send(started, "/apis/authentication.k8s.io/v1/tokenreviews", review)

    extra = known.json["status"]["user"]["extra"]
    issued = events(tmp_path)[-1]["annotations"]["authentication.kubernetes.io/issued-credential-id"]
    assert extra["authentication.kubernetes.io/credential-id"] == [issued]


async def test_a_request_that_cannot_be_recorded_is_refused_if_that_is_wanted(tmp_path: Path) -> None:
    rules = "rules: [{level: Metadata}]\n"
    flags = {**written(tmp_path, rules), "audit_log_mode": "blocking-strict", "audit_log_path": Path("/dev/full")}
    flags["audit_log_maxsize"] = 0
    async with running(tmp_path / "data", **flags) as started:
        answer = await send(started, "/version")
        counted = started.parts.monitoring.audit.families()

    assert (answer.status, answer.text) == (
        500,
        'Internal Server Error: "/version": failed to store audit event\n',
    )
    assert {family.name for family in counted} >= {"apiserver_audit_requests_rejected_total"}


async def test_the_legacy_format_has_a_line_of_text_for_each_event(tmp_path: Path) -> None:
    flags = {**written(tmp_path, "rules: [{level: Metadata, verbs: [get]}]\n"), "audit_log_format": "legacy"}
    async with running(tmp_path / "data", **flags) as started:
        await send(started, "/version")

    lines = (tmp_path / "audit.log").read_text().splitlines()
    assert sum('uri="/version" response="200"' in line for line in lines) == 1


async def test_a_webhook_gets_lists_of_events_again_after_a_failure(tmp_path: Path) -> None:
    other = certificates.ensure(tmp_path / "other", [LOOPBACK], SystemClock())
    lists: list[dict[str, Any]] = []
    arrived = asyncio.Event()

    async def take(request: web.Request) -> web.Response:
        lists.append(await request.json())
        if len(lists) == 1:
            return web.Response(status=503)
        arrived.set()
        return web.Response()

    flags = written(tmp_path, "rules: [{level: Metadata, nonResourceURLs: [/version]}]\n")
    del flags["audit_log_path"]

    async def played(config: Path) -> None:
        hook = {"audit_webhook_config_file": config, "audit_webhook_initial_backoff": 0.01}
        quick = {"audit_webhook_batch_max_size": 2}
        async with running(tmp_path / "data", **flags, **hook, **quick) as started:
            await send(started, "/version")
            await arrived.wait()

    await _beside(other, take, tmp_path, played)

    assert lists[0] == lists[1]
    assert (lists[0]["kind"], lists[0]["apiVersion"]) == ("EventList", "audit.k8s.io/v1")
    assert [event["stage"] for event in lists[0]["items"]] == ["RequestReceived", "ResponseComplete"]


async def _beside(
    other: Pki,
    take: Callable[[web.Request], Awaitable[web.Response]],
    tmp_path: Path,
    play: Callable[[Path], Awaitable[None]],
) -> None:
    """Run the test while a webhook listens; it gets the webhook's kubeconfig file."""
    app = web.Application()
    app.router.add_post("/", take)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(other.server.certificate, other.server.key)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, LOOPBACK, 0, ssl_context=tls).start()
        authority = base64.b64encode(other.ca.certificate.read_bytes()).decode()
        cluster = {"server": f"https://{LOOPBACK}:{runner.addresses[0][1]}", "certificate-authority-data": authority}
        config = tmp_path / "webhook"
        config.write_bytes(
            orjson.dumps(
                {
                    "clusters": [{"name": "c", "cluster": cluster}],
                    "contexts": [{"name": "x", "context": {"cluster": "c"}}],
                    "current-context": "x",
                }
            )
        )
        await play(config)
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "failed decoding: "),
        ("rules: []", "failed decoding: Object 'Kind' is missing"),
        (
            "apiVersion: audit.k8s.io/v1beta1\nkind: Policy\n",
            'failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v1beta1"',
        ),
        (BEGIN, "loaded illegal policy with 0 rules: from file "),
        (BEGIN + "rules: [{level: Some}]", 'rules[0].level: Unsupported value: "Some"'),
    ],
)
async def test_a_policy_that_cannot_be_read_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    settings = Settings(audit_policy_file=file, audit_log_path=tmp_path / "audit.log")

    async with AsyncExitStack() as stack:
        with pytest.raises(ValueError, match=r"^loading audit policy file: ") as refusal:
            open_audit(settings, SystemClock(), WebhookClient(no_service, SystemClock()), AuditMetrics(), stack)

    assert complaint in str(refusal.value)


async def test_without_a_policy_nothing_is_recorded(tmp_path: Path) -> None:
    async with running(tmp_path / "data", audit_log_path=tmp_path / "audit.log") as started:
        await send(started, "/version")

    assert not (tmp_path / "audit.log").exists()

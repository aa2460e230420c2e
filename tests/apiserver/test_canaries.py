"""Planted secrets do not appear in logs at -v=10, errors, metrics, pages or audit events."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.wire import bodies as bodies_of_requests
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf
from tests.apiserver import program
from tests.apiserver.canaries import Canaries
from tests.apiserver.serving import Answer, ask, bearer, listening
from tests.apiserver.test_forwarding import UPGRADE

POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: RequestResponse, resources: [{group: "", resources: [configmaps]}]}
- {level: Metadata}
"""
KEYS = """\
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers: [{aescbc: {keys: [{name: one, secret: %s}]}}, {identity: {}}]
"""
SECRETS = "/api/v1/namespaces/default/secrets"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
JSON, APPLY = "application/json", "application/apply-patch+yaml"
PAGES = (
    *(
        "/metrics",
        "/metrics/slis",
        "/flagz",
        "/statusz",
        "/configz",
        "/livez?verbose",
        "/readyz?verbose",
        "/debug/flags/v",
    ),
    *("/debug/pprof/", "/debug/pprof/goroutine?debug=2", "/debug/pprof/heap", "/debug/pprof/cmdline", "/openapi/v3"),
    *(
        "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1",
        "/version",
        "/.well-known/openid-configuration",
    ),
    *("/debug/api_priority_and_fairness/dump_queues", "/debug/api_priority_and_fairness/dump_priority_levels"),
)


def secret(canaries: Canaries, name: str, **more: Any) -> dict[str, Any]:
    """A Secret full of canaries."""
    data = {"data": {"k": canaries.encoded(f"data of {name}")}, "stringData": {"s": canaries.text(f"text of {name}")}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, **data, **more}


def bodies(canaries: Canaries) -> Iterator[tuple[str, str, str, bytes]]:
    """Valid and invalid requests that contain secrets: method, target, media type, body."""
    good = secret(canaries, "good")
    yield "POST", SECRETS, JSON, orjson.dumps(good)
    yield "POST", SECRETS, JSON, orjson.dumps(good)
    yield "POST", SECRETS, JSON, orjson.dumps(secret(canaries, "bad name", type="x"))
    yield "POST", SECRETS, JSON, orjson.dumps(secret(canaries, "typed", type="kubernetes.io/tls"))
    yield "POST", SECRETS, JSON, orjson.dumps(secret(canaries, "broken"))[:-1]
    yield "POST", SECRETS, JSON, orjson.dumps(secret(canaries, "odd", immutable=canaries.text("odd")))
    yield "POST", SECRETS, JSON, orjson.dumps(secret(canaries, "plain") | {"data": {"k": canaries.text("no base64")}})
    yield "POST", SECRETS, JSON, orjson.dumps(secret(canaries, "flat") | {"data": canaries.text("no map")})
    yield "POST", SECRETS, JSON, orjson.dumps(secret(canaries, "big") | {"stringData": {"k": "x" * (1 << 20)}})
    text = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: y}}\nstringData: {{k: {canaries.text('yaml')}}}\n"
    yield "POST", SECRETS, "application/yaml", text.encode()
    yield "POST", SECRETS, "application/yaml", f"{text}x: [".encode()
    yield "POST", SECRETS, protobuf_type(), protobuf.dump(secret(canaries, "binary") | {"data": {}}, builtin())
    patch = {"stringData": {"p": canaries.text("patch")}}
    yield "PATCH", f"{SECRETS}/good", "application/merge-patch+json", orjson.dumps(patch)
    yield "PATCH", f"{SECRETS}/good", "application/strategic-merge-patch+json", orjson.dumps(patch)
    yield "PATCH", f"{SECRETS}/good", "application/merge-patch+json", orjson.dumps(patch)[:-1]
    steps = [{"op": "test", "path": "/data/k", "value": canaries.text("step")}]
    yield "PATCH", f"{SECRETS}/good", "application/json-patch+json", orjson.dumps(steps)
    applied = secret(canaries, "good", type="Opaque") | {"metadata": {"name": "good"}}
    yield "PATCH", f"{SECRETS}/good?fieldManager=m", APPLY, orjson.dumps(applied)
    yield (
        "PATCH",
        f"{SECRETS}/good?fieldManager=n",
        APPLY,
        orjson.dumps(applied | {"stringData": {"s": canaries.text("conflict")}}),
    )
    yield "PUT", f"{SECRETS}/good", JSON, orjson.dumps(secret(canaries, "good", immutable=True))
    yield "PUT", f"{SECRETS}/good", JSON, orjson.dumps(secret(canaries, "good") | {"stringData": {"z": "1"}})
    review = {"spec": {"token": canaries.text("review")}}
    yield "POST", "/apis/authentication.k8s.io/v1/tokenreviews", JSON, orjson.dumps(review)
    yield "GET", f"{SECRETS}/good", JSON, b""
    yield "GET", SECRETS, JSON, b""
    yield "GET", f"{SECRETS}?watch=1&timeoutSeconds=1", JSON, b""
    yield "DELETE", f"{SECRETS}/good", JSON, b""


def other_credentials(canaries: Canaries) -> Iterator[dict[str, str]]:
    """Credentials in other places than a bearer token."""
    bearer_protocol = f"base64url.bearer.authorization.k8s.io.{canaries.text('web socket')}"
    yield {"Authorization": f"Basic {canaries.encoded('password')}"}
    yield {"Authorization": f"Bearer  {canaries.text('token behind blanks')}"}
    yield {"Authorization": canaries.text("no scheme")}
    yield {"Proxy-Authorization": f"Basic {canaries.encoded('proxy password')}"}
    yield {"Cookie": f"session={canaries.text('cookie')}"}
    yield {"X-Remote-User": "jane", "X-Remote-Extra-Key": canaries.text("extra of a front proxy")}
    yield {**UPGRADE, "Sec-WebSocket-Protocol": f"v4.channel.k8s.io, {bearer_protocol}"}


def protobuf_type() -> str:
    return "application/vnd.kubernetes.protobuf"


async def test_planted_secrets_show_nowhere(tmp_path: Path) -> None:
    canaries = Canaries()
    (tmp_path / "tokens.csv").write_text(f"{canaries.text('token file')},alice,1\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "keys.yaml").write_text(KEYS % canaries.encoded("encryption key"))
    flags = (
        "-v=10",
        f"--token-auth-file={tmp_path}/tokens.csv",
        f"--encryption-provider-config={tmp_path}/keys.yaml",
        f"--audit-policy-file={tmp_path}/policy.yaml",
        f"--audit-log-path={tmp_path}/audit.log",
    )
    refused: list[str] = []
    given: list[str] = []
    heads: list[str] = []
    async with program.running(tmp_path, *flags) as running:
        for path in (tmp_path / "pki").iterdir():
            if path.suffix in (".key", ".token"):
                canaries.file(path)
        admin = bearer((tmp_path / "pki" / "admin.token").read_text().strip())
        tls = program.trusting(tmp_path)

        async def send(method: str, target: str, headers: dict[str, str], body: bytes = b"") -> Answer:
            answer = await ask(running.port, target, method=method, headers=headers, body=body, tls=tls)
            (refused if answer.status >= 400 else given).append(answer.text)
            heads.append(str(answer.headers))
            return answer

        for method, target, media_type, body in bodies(canaries):
            await send(method, target, {**admin, "Content-Type": media_type}, body)
        await send("POST", ACCOUNTS, {**admin, "Content-Type": JSON}, b'{"metadata": {"name": "jane"}}')
        made = await send("POST", f"{ACCOUNTS}/jane/token", {**admin, "Content-Type": JSON}, b'{"spec": {}}')
        canaries.planted["token request"] = made.json["status"]["token"]
        for scheme in ("token file", "unknown token"):
            await send("GET", SECRETS, bearer(canaries.text(scheme)))
        await send("GET", SECRETS, bearer(canaries.planted["token request"]))
        for headers in other_credentials(canaries):
            await send("GET", SECRETS, headers)
            await send("GET", f"{SECRETS}?watch=1", headers)
        pages = [(await send("GET", path, admin)).text for path in PAGES]
        ended = await running.stop()

    audited = (tmp_path / "audit.log").read_text()
    assert "serviceaccounts" in audited
    assert "HTTP" in ended.err
    assert {"data of good, encoded", "token request"} <= {one for text in given for one in canaries.seen_in(text)}
    assert len(canaries.planted) >= 20
    for shown in (ended.err, ended.out, audited, *refused, *heads, *pages):
        assert canaries.seen_in(shown) == [], shown


def broken_files(folder: Path, canaries: Canaries) -> Iterator[str]:
    """Flags with files that have secrets, and mistakes: a server that does not start quotes its files."""
    key = canaries.encoded("key that is too short")[:8]
    canaries.planted["beginning of a key"] = key
    texts = (
        ("token-auth-file", canaries.text("token without a user")),
        ("encryption-provider-config", KEYS % key),
        (
            "authorization-webhook-config-file",
            "users: [{name: u, user: {token: " + canaries.text("token of a kubeconfig"),
        ),
        ("service-account-key-file", "-----BEGIN PRIVATE KEY-----\n" + canaries.text("key in PEM")),
    )
    for number, (flag, text) in enumerate(texts):
        (folder / str(number)).write_text(text)
        yield f"--{flag}={folder / str(number)}"


async def test_a_server_that_does_not_start_quotes_no_secret_of_its_files(tmp_path: Path) -> None:
    canaries = Canaries()
    modes = (
        *("-v=10", "--secure-port=0", "--storage-backend=memory", f"--data-dir={tmp_path}/data"),
        *("--authorization-mode=RBAC,Webhook", "--service-account-issuer=https://a"),
    )

    found = await asyncio.gather(*(program.run(*modes, flag) for flag in broken_files(tmp_path, canaries)))

    assert [one.code == 0 for one in found] == [False] * len(found)
    assert [canaries.seen_in(one.err + one.out) for one in found] == [[]] * len(found)


async def test_the_traceback_of_a_panic_tells_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    canaries = Canaries()
    caplog.set_level(0)

    async def fail(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        kept = (await bodies_of_requests.read(request), request.headers["Authorization"])
        raise RuntimeError(f"a defect in a handler that holds {len(kept)} secrets")

    async with listening(fail, with_errors) as listener:
        headers = bearer(canaries.text("token of a request"))
        body = orjson.dumps(secret(canaries, "in a frame"))
        answer = await ask(listener.port, "/x", method="POST", headers=headers, body=body)

    assert "Traceback" in caplog.text
    assert answer.status == 500
    assert canaries.seen_in(caplog.text + answer.text) == []

"""Planted secrets do not appear in logs at -v=10, errors, metrics, pages or audit events."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf
from tests.apiserver import program
from tests.apiserver.canaries import Canaries
from tests.apiserver.serving import Answer, ask, bearer

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
JSON = "application/json"


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
    yield "PUT", f"{SECRETS}/good", JSON, orjson.dumps(secret(canaries, "good", immutable=True))
    yield "PUT", f"{SECRETS}/good", JSON, orjson.dumps(secret(canaries, "good") | {"stringData": {"z": "1"}})
    review = {"spec": {"token": canaries.text("review")}}
    yield "POST", "/apis/authentication.k8s.io/v1/tokenreviews", JSON, orjson.dumps(review)
    yield "GET", f"{SECRETS}/good", JSON, b""
    yield "GET", SECRETS, JSON, b""
    yield "DELETE", f"{SECRETS}/good", JSON, b""


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
    async with program.running(tmp_path, *flags) as running:
        for path in (tmp_path / "pki").iterdir():
            if path.suffix in (".key", ".token"):
                canaries.file(path)
        admin = bearer((tmp_path / "pki" / "admin.token").read_text().strip())
        tls = program.trusting(tmp_path)

        async def send(method: str, target: str, headers: dict[str, str], body: bytes = b"") -> Answer:
            answer = await ask(running.port, target, method=method, headers=headers, body=body, tls=tls)
            (refused if answer.status >= 400 else given).append(answer.text)
            return answer

        for method, target, media_type, body in bodies(canaries):
            await send(method, target, {**admin, "Content-Type": media_type}, body)
        await send("POST", ACCOUNTS, {**admin, "Content-Type": JSON}, b'{"metadata": {"name": "jane"}}')
        made = await send("POST", f"{ACCOUNTS}/jane/token", {**admin, "Content-Type": JSON}, b'{"spec": {}}')
        canaries.planted["token request"] = made.json["status"]["token"]
        for scheme in ("token file", "unknown token"):
            await send("GET", SECRETS, bearer(canaries.text(scheme)))
        await send("GET", SECRETS, bearer(canaries.planted["token request"]))
        await send("GET", SECRETS, {"Authorization": f"Basic {canaries.encoded('password')}"})
        pages = [
            (await send("GET", path, admin)).text
            for path in ("/metrics", "/metrics/slis", "/flagz", "/statusz", "/livez?verbose", "/debug/pprof/")
        ]
        ended = await running.stop()

    audited = (tmp_path / "audit.log").read_text()
    assert "serviceaccounts" in audited
    assert "HTTP" in ended.err
    assert {"data of good, encoded", "token request"} <= {one for text in given for one in canaries.seen_in(text)}
    for shown in (ended.err, ended.out, audited, *refused, *pages):
        assert canaries.seen_in(shown) == [], shown

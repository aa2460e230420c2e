"""Secrets between the server and webhooks do not appear, not even when webhooks quote them."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from tests.apiserver import program
from tests.apiserver.canaries import Canaries
from tests.apiserver.serving import Answer, ask, bearer
from tests.apiserver.webhook_servers import trusted, webhook
from tests.storage.kv.certificates import Authority

POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"
ISSUER = """\
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: "https://127.0.0.1:1", audiences: [a]}
  claimMappings: {username: {claim: sub, prefix: ""}}
"""
JSON = {"Content-Type": "application/json"}
PODS = "/api/v1/namespaces/default/pods"
SYSTEM_SECRETS = "/api/v1/namespaces/kube-system/secrets"
HOOK = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "hook"},
}
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}


async def quote_everything(request: web.BaseRequest) -> web.Response:
    """A webhook that fails and quotes all that it got, but for audit events, which contain extras of users."""
    headers = "\n".join(f"{name}: {value}" for name, value in request.headers.items())
    body = await request.text()
    return web.Response(status=403, text=headers if '"EventList"' in body else f"{headers}\n{body}")


def kubeconfig(path: Path, url: str, authority: Authority, **user: str) -> Path:
    cluster = {"server": url, "certificate-authority-data": trusted(authority)}
    path.write_text(
        json.dumps(
            {
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "u", "user": user}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    return path


def admission(path: Path, images: Path, hooks: Path) -> Path:
    """The configuration of the webhook admission plugins."""
    group = "apiserver.config.k8s.io/v1"
    of_hooks = {"apiVersion": group, "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": str(hooks)}
    configurations = {
        "ImagePolicyWebhook": {"imagePolicy": {"kubeConfigFile": str(images)}},
        "ValidatingAdmissionWebhook": of_hooks,
    }
    plugins = [{"name": name, "configuration": one} for name, one in configurations.items()]
    path.write_text(json.dumps({"apiVersion": group, "kind": "AdmissionConfiguration", "plugins": plugins}))
    return path


def flags(folder: Path, url: str, authority: Authority, canaries: Canaries) -> Iterator[str]:
    """A server that uses the webhook for everything, each time with other credentials."""

    def file(name: str, **user: str) -> Path:
        return kubeconfig(folder / name, url, authority, **user)

    password = canaries.text("password for reviews")
    canaries.planted["password, encoded"] = base64.b64encode(f"us:{password}".encode()).decode()
    reviews = file("reviews", username="us", password=password)
    access = file("access", token=canaries.text("token for access"))
    images = file("images", token=canaries.text("token for images"))
    hooks = file("hooks", token=canaries.text("token for hooks"))
    (folder / "audit-token").write_text(canaries.text("token for the audit"))
    audit = file("audit", tokenFile=str(folder / "audit-token"))
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "authentication.yaml").write_text(ISSUER)
    yield "-v=10"
    yield f"--authentication-token-webhook-config-file={reviews}"
    yield f"--authentication-config={folder}/authentication.yaml"
    yield "--enable-bootstrap-token-auth"
    yield "--authorization-mode=RBAC,Webhook"
    yield f"--authorization-webhook-config-file={access}"
    yield "--enable-admission-plugins=ImagePolicyWebhook"
    yield "--disable-admission-plugins=ServiceAccount"
    yield f"--admission-control-config-file={admission(folder / 'admission.yaml', images, hooks)}"
    yield f"--audit-policy-file={folder}/policy.yaml"
    yield f"--audit-log-path={folder}/audit.log"
    yield f"--audit-webhook-config-file={audit}"
    yield "--audit-webhook-mode=blocking"
    yield "--audit-webhook-initial-backoff=1ms"


def bootstrap_token(canaries: Canaries) -> dict[str, Any]:
    data = {"token-id": "abcdef", "token-secret": canaries.token("bootstrap token")}
    data["usage-bootstrap-authentication"] = "true"
    metadata = {"name": "bootstrap-token-abcdef", "namespace": "kube-system"}
    return {"metadata": metadata, "type": "bootstrap.kubernetes.io/token", "stringData": data}


def jwt(canaries: Canaries) -> str:
    """A token of the issuer, which does not answer."""
    parts = [{"alg": "ES256"}, {"iss": "https://127.0.0.1:1", "aud": "a", "sub": canaries.text("claim of an issuer")}]
    encoded = [base64.urlsafe_b64encode(orjson.dumps(part)).decode().rstrip("=") for part in parts]
    canaries.planted["claims, encoded"] = encoded[1]
    return ".".join([*encoded, canaries.text("signature of an issuer")])


def pod() -> bytes:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return orjson.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})


def hook(url: str, authority: Authority) -> bytes:
    how = {"sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "timeoutSeconds": 5}
    client = {"url": url, "caBundle": trusted(authority)}
    return orjson.dumps(
        {**HOOK, "webhooks": [{"name": "a.example.com", "clientConfig": client, "rules": [RULE], **how}]}
    )


async def test_secrets_that_are_told_to_webhooks_and_tokens_of_others_show_nowhere(tmp_path: Path) -> None:
    canaries, authority = Canaries(), Authority(tmp_path)
    answers: list[Answer] = []
    async with (
        webhook(authority, quote_everything) as url,
        program.running(tmp_path, *flags(tmp_path, url, authority, canaries)) as running,
    ):
        admin = bearer((tmp_path / "pki" / "admin.token").read_text().strip())
        tls = program.trusting(tmp_path)

        async def send(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> int:
            answers.append(
                await ask(running.port, path, method=method, headers={**JSON, **headers}, body=body, tls=tls)
            )
            return answers[-1].status

        made = await send("POST", SYSTEM_SECRETS, admin, orjson.dumps(bootstrap_token(canaries)))
        answers.clear()  # it is shown to who has made it
        statuses = [
            await send("GET", PODS, bearer(token))
            for token in (
                f"abcdef.{canaries.planted['bootstrap token']}",
                f"abcdef.{canaries.token('wrong bootstrap token')}",
                canaries.text("token that nobody knows"),
                jwt(canaries),
            )
        ]
        as_another = {"Impersonate-User": "jane", "Impersonate-Group": "system:masters"}
        as_another["Impersonate-Extra-Scopes"] = canaries.text("impersonated extra")
        statuses.append(await send("GET", PODS, {**admin, **as_another}))
        statuses.append(await send("POST", PODS, admin, pod()))
        await send(
            "POST",
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
            admin,
            hook(url, authority),
        )
        while (
            await send("POST", "/api/v1/namespaces/default/configmaps", admin, b'{"metadata":{"generateName":"a"}}')
            == 201
        ):
            pass
        metrics = await ask(running.port, "/metrics", headers=admin, tls=tls)
        ended = await running.stop()

    audited = (tmp_path / "audit.log").read_text()
    assert (made, statuses) == (201, [500, 401, 401, 401, 200, 403])
    assert '"hook"' in audited
    assert "Authorization: Bearer ***" in answers[-1].text
    for shown in (ended.err, ended.out, metrics.text, *(answer.text for answer in answers)):
        assert canaries.seen_in(shown) == [], shown
    del canaries.planted["impersonated extra"]  # the audit says who acted as whom
    assert canaries.seen_in(audited) == []

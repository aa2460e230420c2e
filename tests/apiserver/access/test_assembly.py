"""Authentication and authorization by flags and files, on real servers."""

import base64
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec

from aio_apiserver.apiserver.access import authentication_config, authorization_config
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.generic.access import signing_keys
from aio_apiserver.registry.generic.access.signing_keys import VerifyingKey
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, bearer, running, trusting

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.fixture
def other(tmp_path: Path) -> Pki:
    """Certificates of another CA."""
    return certificates.ensure(tmp_path / "other", [LOOPBACK], SystemClock())


async def who(server: Server, tls: ssl.SSLContext, headers: dict[str, str] | None = None) -> Answer:
    return await ask(server.secure.port, WHO, method="POST", body=b"{}", tls=tls, headers=headers or {})


def proxying(server: Server, other: Pki) -> ssl.SSLContext:
    tls = trusting(server)
    tls.load_cert_chain(other.admin.certificate, other.admin.key)
    return tls


def proxies(other: Pki, **more: Any) -> dict[str, Any]:
    return {
        "requestheader_client_ca_file": other.ca.certificate,
        "requestheader_username_headers": ("X-Remote-User",),
        "requestheader_group_headers": ("X-Remote-Group",),
        "requestheader_extra_headers_prefix": ("X-Remote-Extra-",),
        **more,
    }


SPOKEN_OF = {"X-Remote-User": "jane", "X-Remote-Group": "devs", "X-Remote-Extra-Acme.com%2Fproject": "x"}


async def test_a_front_proxy_speaks_for_users(tmp_path: Path, other: Pki) -> None:
    async with running(tmp_path / "data", **proxies(other)) as server:
        answer = await who(server, proxying(server, other), SPOKEN_OF)

    assert answer.json["status"]["userInfo"] == {
        "username": "jane",
        "groups": ["devs", "system:authenticated"],
        "extra": {"acme.com/project": ["x"]},
    }


async def test_a_front_proxy_is_no_user_itself(tmp_path: Path, other: Pki) -> None:
    async with running(tmp_path / "data", **proxies(other)) as server:
        silent = await who(server, proxying(server, other))
        admin = await who(server, as_admin(server))

    assert (silent.status, admin.status) == (401, 201)


async def test_only_a_front_proxy_speaks_for_users(tmp_path: Path, other: Pki) -> None:
    async with running(tmp_path / "data", **proxies(other, requestheader_allowed_names=("somebody",))) as server:
        stranger = await who(server, proxying(server, other), SPOKEN_OF)
        user = await who(server, as_admin(server), SPOKEN_OF)
        nobody = await who(server, trusting(server), SPOKEN_OF)

    assert (stranger.status, nobody.status) == (401, 403)
    assert user.json["status"]["userInfo"]["username"] == certificates.ADMIN


CONFIG = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"


async def test_anonymous_requests_are_accepted_for_some_paths(tmp_path: Path) -> None:
    file = tmp_path / "authentication.yaml"
    file.write_text(f"{CONFIG}anonymous: {{enabled: true, conditions: [{{path: /livez}}]}}\n")

    async with running(tmp_path / "data", authentication_config=file) as server:
        live = await ask(server.secure.port, "/livez", tls=trusting(server))
        ready = await ask(server.secure.port, "/readyz", tls=trusting(server))

    assert (live.status, ready.status) == (200, 401)


@asynccontextmanager
async def elsewhere(other: Pki, app: web.Application) -> AsyncIterator[str]:
    """Another HTTPS server. Yields its URL."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(other.server.certificate, other.server.key)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, LOOPBACK, 0, ssl_context=tls)
        await site.start()
        yield f"https://{LOOPBACK}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def kubeconfig(path: Path, url: str, other: Pki) -> Path:
    authority = base64.b64encode(other.ca.certificate.read_bytes()).decode()
    path.write_bytes(
        orjson.dumps(
            {
                "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority-data": authority}}],
                "users": [{"name": "u", "user": {"token": "ours"}}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    return path


async def test_a_webhook_knows_users_and_decides(tmp_path: Path, other: Pki) -> None:
    seen: list[str | None] = []

    async def review(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        asked = await request.json()
        if asked["kind"] == "TokenReview":
            is_known = asked["spec"]["token"] == "letmein"
            status: dict[str, Any] = {"authenticated": is_known, "user": {"username": "jane"}}
        else:
            status = {"allowed": asked["spec"]["user"] == "jane"}
        return web.json_response({**asked, "status": status})

    app = web.Application()
    app.router.add_post("/", review)
    async with elsewhere(other, app) as url:
        file = kubeconfig(tmp_path / "webhook", url, other)
        flags: dict[str, Any] = {
            "authentication_token_webhook_config_file": file,
            "authorization_webhook_config_file": file,
            "authorization_mode": ("Webhook",),
        }
        async with running(tmp_path / "data", **flags) as server:
            jane = await ask(server.secure.port, "/api/v1/pods", tls=trusting(server), headers=bearer("letmein"))
            wrong = await ask(server.secure.port, "/api/v1/pods", tls=trusting(server), headers=bearer("wrong"))
            nobody = await ask(server.secure.port, "/api/v1/pods", tls=trusting(server))
            as_jane = {**bearer(server.pki.admin_token), "Impersonate-User": "jane"}
            await ask(server.secure.port, "/api/v1/pods", tls=trusting(server), headers=as_jane)
            metrics = await ask(server.secure.port, "/metrics", tls=as_admin(server))

    assert (jane.status, wrong.status, nobody.status) == (200, 401, 403)
    assert 'authorization_webhook_evaluations_total{name="default",result="success"} 2\n' in metrics.text
    assert 'authorization_decisions_total{decision="allowed",name="default",type="Webhook"} 2\n' in metrics.text
    assert 'impersonation_attempts_total{decision="allowed",mode="user-info"} 1\n' in metrics.text
    assert set(seen) == {"Bearer ours"}


def issuing(key: ec.EllipticCurvePrivateKey) -> web.Application:
    """An issuer that publishes one key."""

    async def configuration(request: web.Request) -> web.Response:
        issuer = f"https://{request.host}"
        return web.json_response({"issuer": issuer, "jwks_uri": f"{issuer}/keys"})

    async def keys(_request: web.Request) -> web.Response:
        return web.json_response({"keys": [VerifyingKey(key.public_key()).as_jwk()]})

    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", configuration)
    app.router.add_get("/keys", keys)
    return app


def issued(key: ec.EllipticCurvePrivateKey, url: str) -> dict[str, str]:
    """The Authorization header with a token of an issuer."""
    return bearer(signing_keys.of(key).sign({"iss": url, "aud": "cluster", "sub": "jane", "exp": time.time() + 60}))


async def test_an_issuers_tokens_are_verified_with_its_keys(tmp_path: Path, other: Pki) -> None:
    key = ec.generate_private_key(ec.SECP256R1())

    async with elsewhere(other, issuing(key)) as url:
        flags: dict[str, Any] = {
            "oidc_issuer_url": url,
            "oidc_client_id": "cluster",
            "oidc_ca_file": other.ca.certificate,
            "oidc_signing_algs": ("ES256",),
            "oidc_username_prefix": "oidc:",
        }
        async with running(tmp_path / "data", **flags) as server:
            answer = await who(server, trusting(server), issued(key, url))

    assert answer.json["status"]["userInfo"]["username"] == "oidc:jane"


def trusting_issuers(path: Path, other: Pki, *urls: str) -> None:
    authority = other.ca.certificate.read_text()
    issuers = [{"url": url, "audiences": ["cluster"], "certificateAuthority": authority} for url in urls]
    mappings = {"username": {"claim": "sub", "prefix": "file:"}}
    jwt = [{"issuer": issuer, "claimMappings": mappings} for issuer in issuers]
    kind = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"}
    path.write_bytes(orjson.dumps({**kind, "jwt": jwt}))


async def test_issuers_of_a_file_are_replaced_when_it_changes(tmp_path: Path, other: Pki) -> None:
    key, file = ec.generate_private_key(ec.SECP256R1()), tmp_path / "authentication.yaml"

    async with elsewhere(other, issuing(key)) as first, elsewhere(other, issuing(key)) as second:
        trusting_issuers(file, other, first)
        async with running(tmp_path / "data", authentication_config=file) as server:
            before = [await who(server, trusting(server), issued(key, url)) for url in (first, second)]
            trusting_issuers(file, other, second)
            await server.files.check()
            after = [await who(server, trusting(server), issued(key, url)) for url in (first, second)]

    assert [answer.status for answer in before] == [201, 401]
    assert [answer.status for answer in after] == [401, 201]


def written(tmp_path: Path, kind: str, text: str) -> Path:
    file = tmp_path / "config.yaml"
    file.write_text(f"apiVersion: apiserver.config.k8s.io/v1\nkind: {kind}\n{text}\n")
    return file


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("authorizers: []", "at least one authorization mode must be defined"),
        ("authorizers: [{type: RBAC, name: a}, {type: RBAC, name: b}]", "two authorizers of type RBAC"),
        ("authorizers: [{type: RBAC, name: a}, {type: Node, name: a}]", 'the name "a"'),
        ("authorizers: [{type: Webhook, name: a}]", "if, and only if, type is Webhook"),
        ("authorizers: [{type: RBAC, name: a, color: red}]", "authorizers\\[0\\].color: Extra inputs"),
        ("", "authorizers: Field required"),
        ("}", "config.yaml: line 3"),
    ],
)
def test_a_configuration_of_authorization_that_makes_no_sense_is_refused(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        authorization_config.read(written(tmp_path, "AuthorizationConfiguration", text))


OK = "jwt: [{issuer: {url: 'https://x', audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ''}"
JWT = "jwt: [{issuer: {url: 'URL', audiences: [a]}, claimMappings: {username: {USERNAME}}}]"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (JWT.replace("URL", "http://x").replace("USERNAME", "claim: sub, prefix: ''"), "url: URL scheme must be https"),
        (JWT.replace("URL", "https://u:p@x").replace("USERNAME", "claim: sub, prefix: ''"), "username or password"),
        (JWT.replace("URL", "https://x?a=b").replace("USERNAME", "claim: sub, prefix: ''"), "must not contain a query"),
        (JWT.replace("URL", "https://us").replace("USERNAME", "claim: sub, prefix: ''"), "overlap with disallowed"),
        (OK.replace("audiences", "certificateAuthority: none, audiences") + "}}]", "any valid certificates"),
        (f"{OK}, extra: [{{key: a.k8s.io/x, valueExpression: claims.x}}]}}}}]", "reserved for Kubernetes use"),
        (f"{OK}, extra: [{{key: x, valueExpression: claims.x}}]}}}}]", "must be a domain-prefixed path"),
        (f"{OK}}}, claimValidationRules: [{{claim: a, message: m}}]}}]", "message may not be specified"),
        (f"{OK}}}, claimValidationRules: [{{claim: a}}, {{claim: a}}]}}]", 'Duplicate value: "a"'),
        (JWT.replace("URL", "https://x").replace("USERNAME", "claim: sub"), "prefix is required when claim is set"),
        (JWT.replace("URL", "https://x").replace("USERNAME", "expression: claims."), "compilation failed"),
        (
            JWT.replace("URL", "https://x").replace("USERNAME", "expression: claims.email"),
            "email_verified must be used",
        ),
        (
            JWT.replace("URL", "https://x").replace("USERNAME", "expression: \"claims.?email.orValue('')\""),
            "email_verified must be used",
        ),
        ("anonymous: {enabled: false, conditions: [{path: /x}]}", "conditions are not allowed"),
        ("colors: 1", "colors: Extra inputs"),
    ],
)
def test_a_configuration_of_authentication_that_makes_no_sense_is_refused(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        authentication_config.read(written(tmp_path, "AuthenticationConfiguration", text), ("https://us",))


async def test_a_file_lists_the_authorizers(tmp_path: Path) -> None:
    text = "authorizers: [{type: Node, name: node}, {type: RBAC, name: rbac}]"
    file = written(tmp_path, "AuthorizationConfiguration", text)

    async with running(tmp_path / "data", authorization_config=file) as server:
        version = await ask(server.secure.port, "/version", tls=trusting(server))
        pods = await ask(server.secure.port, "/api/v1/pods", tls=trusting(server))

    assert (version.status, pods.status) == (200, 403)


@pytest.mark.parametrize(
    ("token", "user"),
    [("TOKEN", certificates.ADMIN), ("TOKEN more", certificates.ADMIN), (" TOKEN", "system:anonymous"), ("x", None)],
)
async def test_a_token_is_reviewed_as_if_it_had_been_sent(tmp_path: Path, token: str, user: str | None) -> None:
    async with running(tmp_path) as server:
        body = orjson.dumps({"spec": {"token": token.replace("TOKEN", server.pki.admin_token)}})
        path = "/apis/authentication.k8s.io/v1/tokenreviews"
        answer = await ask(server.secure.port, path, method="POST", body=body, tls=as_admin(server))

    assert answer.json["status"].get("user", {}).get("username") == user

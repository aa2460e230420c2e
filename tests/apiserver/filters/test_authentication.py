import base64
import ssl
from pathlib import Path

import pytest

from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.base.clock import SystemClock
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, bearer, running, trusting

TOKENS = 'admintoken,admin,admin-uid,"system:masters"\nusertoken,alice,alice-uid,"devs,ops"\n'
SECRET = "/api/nope"
"""A path that distinguishes 401, 403 and 404: unknown, anonymous and known users."""


def token_file(directory: Path) -> Path:
    path = directory / "tokens.csv"
    path.write_text(TOKENS)
    return path


async def asked(server: Server, path: str = SECRET, *, authorization: str | None = None) -> Answer:
    headers = {"Authorization": authorization} if authorization is not None else {}
    return await ask(server.secure.port, path, headers=headers, tls=trusting(server))


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("Bearer usertoken", 404),
        ("bearer usertoken", 404),
        ("BEARER usertoken", 404),
        ("  Bearer usertoken  ", 404),
        ("Bearer usertoken x", 404),
        ("Bearer Usertoken", 401),
        ("Bearer wrong", 401),
        ("Bearer a.b.c", 401),
        ("Bearer", 403),
        ("Bearer ", 403),
        ("Bearer  usertoken", 403),
        ("Token usertoken", 403),
        ("Basic YWRtaW46YWRtaW4=", 403),
        ("usertoken", 403),
        ("", 403),
        (None, 403),
    ],
)
async def test_reads_bearer_tokens_as_kube_apiserver_does(
    tmp_path: Path, authorization: str | None, status: int
) -> None:
    async with running(tmp_path, token_auth_file=token_file(tmp_path)) as server:
        answer = await asked(server, authorization=authorization)

    assert answer.status == status


async def test_an_unknown_token_is_refused_even_on_public_paths(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        answer = await asked(server, "/healthz", authorization="Bearer wrong")

    assert answer.status == 401
    assert answer.text == (
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        '"message":"Unauthorized","reason":"Unauthorized","code":401}\n'
    )


async def test_a_space_too_many_is_warned_about(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        answer = await asked(server, "/healthz", authorization="Bearer  admintoken")

    assert answer.status == 200
    assert answer.headers["warning"] == (
        '299 - "the provided Authorization header contains extra space before the bearer token, and is ignored"'
    )


async def test_without_anonymous_requests_an_unknown_client_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path, anonymous_auth=False) as server:
        unknown = await asked(server, "/healthz")
        known = await asked(server, "/healthz", authorization=f"Bearer {server.pki.admin_token}")

    assert (unknown.status, known.status) == (401, 200)


async def test_the_administrators_certificate_and_token_get_in(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        by_certificate = await ask(server.secure.port, SECRET, tls=as_admin(server))
        by_token = await ask(server.secure.port, SECRET, tls=trusting(server), headers=bearer(server.pki.admin_token))

    assert (by_certificate.status, by_token.status) == (404, 404)


async def test_a_certificate_counts_before_a_token(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        answer = await ask(server.secure.port, SECRET, tls=as_admin(server), headers=bearer("wrong"))

    assert answer.status == 404


async def test_certificates_of_the_client_ca_are_accepted(tmp_path: Path) -> None:
    other = certificates.ensure(tmp_path / "other", [LOOPBACK], SystemClock())

    async with running(tmp_path / "data", client_ca_file=other.ca.certificate) as server:
        tls = trusting(server)
        tls.load_cert_chain(other.admin.certificate, other.admin.key)
        answer = await ask(server.secure.port, SECRET, tls=tls)

    assert answer.status == 404


async def test_certificates_of_strangers_are_not(tmp_path: Path) -> None:
    other = certificates.ensure(tmp_path / "other", [LOOPBACK], SystemClock())

    async with running(tmp_path / "data") as server:
        tls = trusting(server)
        tls.load_cert_chain(other.admin.certificate, other.admin.key)
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await ask(server.secure.port, SECRET, tls=tls)


async def test_a_serving_certificate_is_no_clients(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        tls = trusting(server)
        tls.load_cert_chain(server.pki.server.certificate, server.pki.server.key)
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await ask(server.secure.port, SECRET, tls=tls)


async def test_the_insecure_port_accepts_all_clients_of_this_machine(tmp_path: Path, free_port: int) -> None:
    async with running(tmp_path, insecure_port=free_port):
        answers = [
            await ask(free_port, SECRET, headers={"Host": host})
            for host in ("localhost", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST:1")
        ]

    assert [answer.status for answer in answers] == [404] * 4


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example.com"}, {"Host": "127.0.0.1.evil.com"}, {"Host": "192.0.2.1"}, {"Origin": "http://evil"}],
)
async def test_the_insecure_port_refuses_what_a_page_may_send(
    tmp_path: Path, free_port: int, headers: dict[str, str]
) -> None:
    async with running(tmp_path, insecure_port=free_port):
        answer = await ask(free_port, "/healthz", headers=headers)

    assert answer.status == 403


def as_protocol(token: str) -> str:
    encoded = base64.urlsafe_b64encode(token.encode()).rstrip(b"=").decode()
    return f"base64url.bearer.authorization.k8s.io.{encoded}"


@pytest.mark.parametrize(
    ("protocols", "status"),
    [
        (f"{as_protocol('usertoken')}, v5.channel.k8s.io", 404),
        (f"v5.channel.k8s.io,{as_protocol('wrong')}", 401),
        (as_protocol("usertoken"), 401),
        (f"{as_protocol('usertoken')}, {as_protocol('admintoken')}, x", 401),
        ("base64url.bearer.authorization.k8s.io.!, x", 401),
        ("v5.channel.k8s.io", 403),
    ],
)
async def test_a_web_socket_may_bring_a_token_as_a_protocol(tmp_path: Path, protocols: str, status: int) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Protocol": protocols}

    async with running(tmp_path, token_auth_file=token_file(tmp_path)) as server:
        answer = await ask(server.secure.port, SECRET, headers=headers, tls=trusting(server))

    assert answer.status == status

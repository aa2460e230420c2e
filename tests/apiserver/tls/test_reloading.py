"""Files that a running server reloads. The tests force each check."""

import asyncio
import hashlib
import logging
import re
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography.exceptions import UnsupportedAlgorithm
from multidict import CIMultiDict

from aio_apiserver.apiserver import renewal, server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.outgoing.relay_client import Unreachable
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.tls.reloading import PAUSE, Contents, Reloaded, Reloading
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base.locations import Location, Passage
from tests.apiserver.serving import LOOPBACK, ask, bearer, read_answer, running, trusting
from tests.apiserver.webhook_servers import webhook
from tests.storage.kv.certificates import Authority, CertificateFiles

PODS = "/api/v1/pods"
ME = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
YEAR_2130 = 5_049_129_600.0


def as_user(running: Server, files: CertificateFiles) -> ssl.SSLContext:
    tls = trusting(running)
    tls.load_cert_chain(files.certificate, files.key)
    return tls


async def status(running: Server, tls: ssl.SSLContext, path: str = "/version", headers: Any = None) -> int:
    return (await ask(running.secure.port, path, tls=tls, headers=headers or {})).status


# Files


@pytest.fixture
def taken() -> list[Contents]:
    return []


def watched(path: Path, taken: list[Contents], *failures: Exception) -> Reloaded:
    left = list(failures)

    async def take_over(contents: Contents) -> None:
        if left:
            raise left.pop(0)
        taken.append(contents)

    return Reloaded("file", [path], take_over, [path.read_bytes()])


async def test_a_file_is_taken_over_when_its_content_is_another_one(tmp_path: Path, taken: list[Contents]) -> None:
    path = tmp_path / "file"
    path.write_text("a")
    file = watched(path, taken)

    for content in ("a", "b", "b", "c"):
        path.write_text(content)
        await file.check()

    assert taken == [[b"b"], [b"c"]]


async def test_what_never_will_be_right_is_not_tried_again(tmp_path: Path, taken: list[Contents]) -> None:
    path = tmp_path / "file"
    path.write_text("a")
    file = watched(path, taken, ValueError("no"))
    path.write_text("b")

    for _ in range(2):
        await file.check()

    assert taken == []


async def test_what_may_be_right_later_is_tried_again(tmp_path: Path, taken: list[Contents]) -> None:
    path = tmp_path / "file"
    path.write_text("a")
    file = watched(path, taken, OSError("not now"))
    path.write_text("b")

    for _ in range(2):
        await file.check()

    assert taken == [[b"b"]]


async def test_a_defect_leaves_the_other_files_and_the_file_itself_watched(
    tmp_path: Path, taken: list[Contents]
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        path.write_bytes(b"old")
    files = Reloading([watched(one, taken, UnsupportedAlgorithm("curve")), watched(other, taken)], ManualClock())
    for path in (one, other):
        path.write_bytes(b"new")

    await files.check()
    assert len(taken) == 1

    await files.check()
    assert len(taken) == 2


async def test_a_file_that_is_gone_changes_nothing(tmp_path: Path, taken: list[Contents]) -> None:
    path = tmp_path / "file"
    path.write_text("a")
    file = watched(path, taken)
    path.unlink()

    await file.check()

    assert taken == []


async def test_files_are_looked_at_every_minute(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a")
    clock, done = ManualClock(), asyncio.Event()

    async def take_over(_contents: Contents) -> None:
        done.set()

    looking = asyncio.create_task(Reloading([Reloaded("file", [path], take_over, [b"a"])], clock).run())
    await asyncio.sleep(0)
    path.write_text("b")
    clock.advance(PAUSE)
    await done.wait()
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)


# Client certificates


async def test_a_new_ca_of_clients_counts_at_once_and_the_old_one_no_more(tmp_path: Path) -> None:
    old, new = Authority(tmp_path, "old"), Authority(tmp_path, "new")
    bundle = tmp_path / "bundle"
    bundle.write_bytes(old.file.read_bytes())
    jane, joe = old.issue("jane"), new.issue("joe")

    async with running(tmp_path / "data", client_ca_file=bundle) as server:
        before = await status(server, as_user(server, jane))
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_user(server, jane))
        bundle.write_bytes(new.file.read_bytes())
        await server.files.check()
        writer.write(b"GET /version HTTP/1.1\r\nHost: a\r\n\r\n")
        on_an_open_connection = (await read_answer(reader)).status
        writer.close()
        await writer.wait_closed()
        after = await status(server, as_user(server, joe))
        with pytest.raises(ssl.SSLError, match="UNKNOWN_CA"):
            await status(server, as_user(server, jane))

    assert (before, on_an_open_connection, after) == (200, 401, 200)


async def test_who_is_not_known_is_told_so_by_tls(tmp_path: Path) -> None:
    files = Authority(tmp_path, "other").issue("jane")

    async with running(tmp_path / "data") as server:
        with pytest.raises(ssl.SSLError, match="UNKNOWN_CA"):
            await status(server, as_user(server, files))


async def test_a_certificate_that_is_not_for_clients_names_no_user(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as server:
        tls = trusting(server)
        tls.load_cert_chain(server.pki.server.certificate, server.pki.server.key)
        with pytest.raises(ssl.SSLError, match="UNSUPPORTED_CERTIFICATE"):
            await status(server, tls)


async def test_a_ca_may_have_been_signed_by_another_one(tmp_path: Path) -> None:
    """A certificate in a bundle is trusted, also when its own CA is unknown."""
    between = Authority(tmp_path, "between", signer=Authority(tmp_path, "root"))

    async with running(tmp_path / "data", client_ca_file=between.file) as server:
        assert await status(server, as_user(server, between.issue("jane"))) == 200


async def test_an_expired_certificate_is_refused_and_not_anonymous(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    files = authority.issue("jane")
    settings = Settings(
        data_dir=tmp_path / "data",
        storage_backend="memory",
        bind_address=LOOPBACK,
        secure_port=0,
        client_ca_file=authority.file,
        authorization_mode=("AlwaysAllow",),
    )
    started = await server.start(settings, clock=ManualClock(YEAR_2130))
    try:
        await started.wait_until_ready()
        anybody = ssl.create_default_context()
        anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
        nobody = await status(started, anybody, PODS)
        anybody.load_cert_chain(files.certificate, files.key)
        jane = await status(started, anybody, PODS)
        with_token = await status(started, anybody, PODS, bearer(started.pki.admin_token))
    finally:
        await started.stop()

    assert (nobody, jane, with_token) == (200, 401, 200)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_session_goes_on_with_its_certificate(tmp_path: Path, version: ssl.TLSVersion) -> None:
    authority = Authority(tmp_path)
    files = authority.issue("jane")

    async with running(tmp_path / "data", client_ca_file=authority.file) as server:
        tls = as_user(server, files)
        tls.minimum_version = tls.maximum_version = version
        first, session, _ = await asyncio.to_thread(blocking, server.secure.port, tls, None)
        second, _, is_reused = await asyncio.to_thread(blocking, server.secure.port, tls, session)

    assert is_reused
    assert b'"username":"jane"' in first
    assert b'"username":"jane"' in second


def blocking(
    port: int, tls: ssl.SSLContext, session: ssl.SSLSession | None
) -> tuple[bytes, ssl.SSLSession | None, bool]:
    """Asks for its user name, on a resumed session."""
    with (
        socket.create_connection((LOOPBACK, port)) as plain,
        tls.wrap_socket(plain, server_hostname=LOOPBACK, session=session) as connection,
    ):
        head = f"POST {ME} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
        connection.sendall(head.encode() + b"{}")
        answer = b""
        while part := connection.recv(65536):
            answer += part
        return answer, connection.session, bool(connection.session_reused)


# Configurations

HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: {kind}\n"


def authorizing(path: Path, *types: str) -> None:
    listed = ", ".join(f"{{type: {name}, name: {name.lower()}}}" for name in types)
    path.write_text(HEAD.format(kind="AuthorizationConfiguration") + f"authorizers: [{listed}]\n")


@asynccontextmanager
async def authorized_by(path: Path, tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path / "data", authorization_config=path) as server:
        yield server


async def reloads_told(server: Server, part: str) -> tuple[list[str], list[str]]:
    """The reload metrics: the outcomes with their numbers, and the hashes of the configuration in force."""
    answer = await ask(server.secure.port, "/metrics", tls=trusting(server), headers=bearer(server.pki.admin_token))
    name = f"apiserver_{part}_config_controller"
    counts = re.findall(rf'{name}_automatic_reloads_total{{.*status="(\w+)"}} (\d+)', answer.text)
    in_force = re.findall(rf'{name}_last_config_info{{.*hash="(sha256:\w+)"}} 1', answer.text)
    return [" ".join(one) for one in counts], in_force


def hash_of(path: Path) -> str:
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


async def test_authorizers_are_replaced_by_those_of_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "authorization.yaml"
    authorizing(path, "RBAC")

    async with authorized_by(path, tmp_path) as server:
        before = await status(server, trusting(server), PODS)
        authorizing(path, "RBAC", "AlwaysAllow")
        await server.files.check()
        after = await status(server, trusting(server), PODS)
        told = await reloads_told(server, "authorization")

    assert (before, after) == (403, 200)
    assert told == (["success 1"], [hash_of(path)])


@pytest.mark.parametrize(
    ("types", "complaint"),
    [
        (("Node",), "authorizer type Node is not allowed if it was not enabled at initial server startup"),
        (("RBAC", "RBAC"), "two authorizers"),
    ],
)
async def test_authorizers_that_cannot_be_leave_those_that_are(
    tmp_path: Path, types: tuple[str, ...], complaint: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "authorization.yaml"
    authorizing(path, "RBAC", "AlwaysAllow")

    async with authorized_by(path, tmp_path) as server:
        authorizing(path, *types)
        with caplog.at_level(logging.ERROR):
            await server.files.check()
        after = await status(server, trusting(server), PODS)
        told, in_force = await reloads_told(server, "authorization")

    assert after == 200
    assert complaint in caplog.text
    assert told == ["failure 1"]
    assert in_force != [hash_of(path)]


def authenticating(path: Path, text: str) -> None:
    path.write_text(HEAD.format(kind="AuthenticationConfiguration") + text)


ISSUER = """
jwt:
- issuer: {url: "https://127.0.0.1:1", audiences: [a]}
  claimMappings: {username: {claim: sub, prefix: ""}}
"""


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("anonymous: {enabled: false}\n", "anonymous: Forbidden: changed from initial configuration file"),
        (ISSUER, "cannot get https://127.0.0.1:1/.well-known/openid-configuration"),
        ("colors: 1\n", "colors: Extra inputs"),
    ],
)
async def test_issuers_that_cannot_be_leave_those_that_are(
    tmp_path: Path, text: str, complaint: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "authentication.yaml"
    authenticating(path, "jwt: []\n")

    async with running(tmp_path / "data", authentication_config=path) as server:
        authenticating(path, text)
        with caplog.at_level(logging.ERROR):
            await server.files.check()
        told, in_force = await reloads_told(server, "authentication")

    assert complaint in caplog.text
    assert told == ["failure 1"]
    assert in_force != [hash_of(path)]


async def test_extension_servers_find_the_trusted_authorities(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"

    async with running(tmp_path / "data", client_ca_file=authority.file) as server:
        answer = await ask(server.secure.port, path, tls=trusting(server), headers=bearer(server.pki.admin_token))

    assert answer.json["data"] == {"client-ca-file": authority.file.read_text()}


async def test_kubelets_are_shown_a_certificate_that_was_renewed(tmp_path: Path) -> None:
    known = Authority(tmp_path, "known")
    shown = Authority(tmp_path, "strange").issue("us")
    settings = Settings(data_dir=tmp_path, kubelet_client_certificate=shown.certificate, kubelet_client_key=shown.key)

    async def answer(_request: web.BaseRequest) -> web.Response:
        return web.Response(text="ok")

    backends = Backends(settings)
    (files,) = renewal.reloaded_for_kubelets(settings, backends)
    async with webhook(known, answer, wants_certificate=True) as url:
        location = Location(passage=Passage.PROXY, scheme="https", host=LOOPBACK, is_kubelet=True)

        async def reached() -> bool:
            try:
                async with backends.request(location, "GET", url, headers=CIMultiDict()) as answered:
                    return await answered.read(9) == b"ok"
            except Unreachable:
                return False

        before = await reached()
        renewed = known.issue("us anew")
        shown.certificate.write_bytes(renewed.certificate.read_bytes())
        shown.key.write_bytes(renewed.key.read_bytes())
        await files.check()
        after = await reached()
        await backends.close()

    assert (before, after) == (False, True)

"""Rotation of shared keys, on two replicas and a real etcd: what was good before stays good until the end."""

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from aio_apiserver.apiserver.replicas import rotation
from aio_apiserver.apiserver.replicas.key_ring import GRACE_SECONDS, LOOK_SECONDS
from aio_apiserver.apiserver.replicas.rotation import RotationRefused
from aio_apiserver.apiserver.server import Server
from tests.apiserver import program
from tests.apiserver.replicas.replica_servers import (
    SECRET,
    SteppedClock,
    replica,
    service_account_token,
    settings_of,
    with_token,
)
from tests.apiserver.serving import ask
from tests.storage.kv.etcd_server import Member

DEADLINE = 30.0
PUBLISHER = "root-ca-certificate-publisher-controller"
ROOT_CA = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt"


@pytest.fixture(scope="module")
def etcd() -> Iterator[Member]:
    with Member() as member:
        yield member


class Pair(NamedTuple):
    """Two replicas under one clock."""

    a: Server
    b: Server
    clock: SteppedClock

    async def rotate(self, name: str, *, finish: bool = False) -> None:
        await rotation.rotate(self.a.settings, name, self.clock, finish=finish)

    async def follow(self, is_so: Callable[[Server], Awaitable[bool]]) -> None:
        """Let the replicas look at what is shared, until something is so on both."""
        async with asyncio.timeout(DEADLINE):
            while not all([await is_so(one) for one in (self.a, self.b)]):
                self.clock.advance(LOOK_SECONDS)
                await with_token(self.a, self.a.pki.admin_token, "/readyz")  # lets both work


@asynccontextmanager
async def pair(directory: Path, etcd: Member, prefix: str) -> AsyncIterator[Pair]:
    clock = SteppedClock()
    async with (
        replica(directory / "a", etcd, prefix, clock=clock) as a,
        replica(directory / "b", etcd, prefix, clock=clock) as b,
    ):
        yield Pair(a, b, clock)


def key_id(token: str) -> str:
    head = token.partition(".")[0]
    found: str = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["kid"]
    return found


async def key_ids(asked: Server) -> list[str]:
    """The keys that verify, as the server shows them."""
    answer = await with_token(asked, asked.pki.admin_token, "/openid/v1/jwks")
    return [key["kid"] for key in answer.json["keys"]]


async def test_a_new_service_account_key_verifies_first_then_signs_and_the_old_one_goes(
    tmp_path: Path, etcd: Member
) -> None:
    async with pair(tmp_path, etcd, "/service-account-key") as both:

        async def knows_both(asked: Server) -> bool:
            return len(await key_ids(asked)) == 2

        async def signs_with_new(asked: Server) -> bool:
            return key_id(await service_account_token(asked)) != key_id(old)

        async def knows_one(asked: Server) -> bool:
            return len(await key_ids(asked)) == 1

        old = await service_account_token(both.a)
        await both.rotate("service-account-key")
        both.clock.advance(LOOK_SECONDS)
        await both.follow(knows_both)
        await both.follow(signs_with_new)
        new = await service_account_token(both.b)
        during = [await with_token(one, token) for one in (both.a, both.b) for token in (old, new)]
        both.clock.advance(GRACE_SECONDS + LOOK_SECONDS)
        await both.rotate("service-account-key", finish=True)
        await both.follow(knows_one)
        after = [await with_token(one, token) for one in (both.a, both.b) for token in (old, new)]

    assert [answer.status for answer in during] == [403] * 4  # known, and allowed nothing
    assert [answer.status for answer in after] == [401, 403] * 2


async def test_the_old_administrators_token_is_accepted_until_the_end(tmp_path: Path, etcd: Member) -> None:
    async with pair(tmp_path, etcd, "/admin-token") as both:

        async def shows_new(asked: Server) -> bool:
            return (asked.settings.pki_dir / "admin.token").read_text() != old

        async def refuses_old(asked: Server) -> bool:
            return (await with_token(asked, old)).status == 401

        old = both.a.pki.admin_token
        await both.rotate("admin-token")
        await both.follow(shows_new)
        new = (both.a.settings.pki_dir / "admin.token").read_text()
        during = [await with_token(one, token) for one in (both.a, both.b) for token in (old, new)]
        both.clock.advance(GRACE_SECONDS + LOOK_SECONDS)
        await both.rotate("admin-token", finish=True)
        await both.follow(refuses_old)
        after = [await with_token(one, new) for one in (both.a, both.b)]

    assert [answer.status for answer in during] == [200] * 4
    assert [answer.status for answer in after] == [200] * 2


class AdminFiles(NamedTuple):
    """What an administrator has copied from a replica."""

    bundle: str
    pair: Path

    @classmethod
    def copied(cls, server: Server, to: Path) -> "AdminFiles":
        to.write_bytes(server.pki.admin.certificate.read_bytes() + server.pki.admin.key.read_bytes())
        return cls(server.pki.ca.certificate.read_text(), to)

    async def status(self, asked: Server) -> int:
        """The status of a request with these files; 0 when client and server do not trust each other."""
        tls = ssl.create_default_context(cadata=self.bundle)
        tls.load_cert_chain(self.pair)
        try:
            return (await ask(asked.secure.port, SECRET, tls=tls)).status
        except ssl.SSLError:
            return 0


async def test_both_authorities_are_trusted_until_the_old_one_is_dropped(tmp_path: Path, etcd: Member) -> None:
    async with pair(tmp_path, etcd, "/ca") as both:

        async def issues_anew(asked: Server) -> bool:
            return (asked.settings.pki_dir / "next-ca.crt").exists() and (
                asked.pki.admin.certificate.read_bytes() not in old.pair.read_bytes()
            )

        async def refuses_old(asked: Server) -> bool:
            has_one = asked.pki.ca.certificate.read_text().count("BEGIN CERTIFICATE") == 1
            return has_one and await old.status(asked) == 0 and await new.status(asked) == 200

        old = AdminFiles.copied(both.a, tmp_path / "old.pem")
        await both.rotate("ca")
        await both.follow(issues_anew)
        new = AdminFiles.copied(both.a, tmp_path / "new.pem")
        during = [await files.status(one) for one in (both.a, both.b) for files in (old, new)]
        both.clock.advance(GRACE_SECONDS + LOOK_SECONDS)
        await both.rotate("ca", finish=True)
        await both.follow(refuses_old)
        kubeconfig = both.b.settings.kubeconfig_file.read_text()
        bundle = both.b.pki.ca.certificate.read_text()

    assert during == [200] * 4
    assert new.bundle.count("BEGIN CERTIFICATE") == 2
    assert bundle.count("BEGIN CERTIFICATE") == 1
    assert base64.b64encode(bundle.encode()).decode() in kubeconfig


async def test_namespaces_get_the_bundle_of_a_rotated_authority_without_a_restart(tmp_path: Path, etcd: Member) -> None:
    clock = SteppedClock()
    async with replica(tmp_path, etcd, "/root-ca", clock=clock, controllers=(PUBLISHER,)) as server:

        async def published() -> str:
            answer = await with_token(server, server.pki.admin_token, ROOT_CA)
            return str(answer.json["data"]["ca.crt"]) if answer.status == 200 else ""

        async def until_published(authorities: int) -> str:
            async with asyncio.timeout(DEADLINE):
                while (bundle := await published()).count("BEGIN CERTIFICATE") != authorities:
                    clock.advance(LOOK_SECONDS)
                    await asyncio.sleep(0)
            return bundle

        before = await until_published(1)
        await rotation.rotate(server.settings, "ca", clock, finish=False)
        await until_published(2)
        clock.advance(GRACE_SECONDS + LOOK_SECONDS)
        await rotation.rotate(server.settings, "ca", clock, finish=True)
        after = await until_published(1)

    assert after != before


async def test_a_rotation_is_not_finished_before_all_replicas_use_the_new_key(tmp_path: Path, etcd: Member) -> None:
    clock = SteppedClock()
    settings = settings_of(tmp_path / "a", etcd, "/early")
    async with replica(tmp_path / "a", etcd, "/early"):
        pass

    await rotation.rotate(settings, "admin-token", clock, finish=False)
    clock.advance(GRACE_SECONDS)

    with pytest.raises(RotationRefused, match=f"try again in {LOOK_SECONDS:.0f}s"):
        await rotation.rotate(settings, "admin-token", clock, finish=True)


async def test_there_is_nothing_to_rotate_on_an_etcd_that_no_server_has_used(tmp_path: Path, etcd: Member) -> None:
    with pytest.raises(RotationRefused, match="no server has shared"):
        await rotation.rotate(settings_of(tmp_path, etcd, "/nothing"), "ca", SteppedClock(), finish=False)


async def test_the_command_rotates_and_says_what_comes_next(tmp_path: Path, etcd: Member) -> None:
    flags = (f"--etcd-servers={etcd.endpoint}", "--etcd-prefix=/command", f"--data-dir={tmp_path / 'operator'}")
    async with replica(tmp_path / "a", etcd, "/command"):
        made = await program.run("rotate", "service-account-key", *flags)
        early = await program.run("rotate", "service-account-key", *flags, "--finish")

    assert (made.code, made.err) == (0, "")
    assert "All replicas verify with it within 10s" in made.out
    assert (early.code, early.out) == (1, "")
    assert "Error: not all replicas use the new key yet" in early.err
    assert not (tmp_path / "operator").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["rotate"], "rotate needs one of service-account-key, ca, admin-token, got ''"),
        (["rotate", "all"], "got 'all'"),
        (["rotate", "ca", "--storage-backend=memory"], "rotate needs --etcd-servers or --data-dir"),
        (["rotate", "ca", "--etcd-serverz=a"], "unknown flag: --etcd-serverz"),
    ],
)
async def test_a_rotation_that_makes_no_sense_is_refused(arguments: list[str], told: str) -> None:
    ended = await program.run(*arguments)

    assert ended.code == 2
    assert told in ended.err

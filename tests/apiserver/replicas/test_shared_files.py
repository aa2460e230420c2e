"""Servers that share nothing but etcd: what one of them gives out is good on all others."""

import asyncio
import base64
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import yaml

from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.access import service_account_keys
from aio_apiserver.apiserver.replicas.key_ring import LOOK_SECONDS, KeyRing
from aio_apiserver.apiserver.replicas.shared_files import SharedFiles
from aio_apiserver.apiserver.replicas.shared_keys import SharedKey
from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.base.clock import ManualClock, SystemClock
from aio_apiserver.storage.factory.shared_secrets import SharedSecrets
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.transformers.transformer import IDENTITY
from tests.apiserver.replicas.replica_servers import (
    SECRET,
    replica,
    service_account_token,
    settings_of,
    with_certificate_of,
    with_token,
)
from tests.apiserver.serving import LOOPBACK, ask
from tests.storage.kv.etcd_server import Member

REPLICAS = 10


@pytest.fixture(scope="module")
def etcd() -> Iterator[Member]:
    with Member() as member:
        yield member


async def test_credentials_of_one_replica_are_good_on_the_other(tmp_path: Path, etcd: Member) -> None:
    async with replica(tmp_path / "a", etcd, "/both") as a, replica(tmp_path / "b", etcd, "/both") as b:
        tokens = [await service_account_token(one) for one in (a, b)]
        answers = [
            *[await with_token(one, other.pki.admin_token) for one, other in ((a, b), (b, a))],
            *[await with_certificate_of(one, other) for one, other in ((a, b), (b, a))],
        ]
        of_account = [await with_token(one, token) for one in (a, b) for token in tokens]

    assert [answer.status for answer in answers] == [200] * 4
    assert [answer.status for answer in of_account] == [403] * 4  # known, and allowed nothing
    assert all("system:serviceaccount:default:default" in answer.text for answer in of_account)


async def test_the_kubeconfig_of_one_replica_works_on_the_other_with_its_port(tmp_path: Path, etcd: Member) -> None:
    async with replica(tmp_path / "a", etcd, "/kubeconfig") as a, replica(tmp_path / "b", etcd, "/kubeconfig") as b:
        kubeconfig = yaml.safe_load(a.settings.kubeconfig_file.read_text())
        user, cluster = kubeconfig["users"][0]["user"], kubeconfig["clusters"][0]["cluster"]
        pair = tmp_path / "pair.pem"
        pair.write_bytes(
            b"".join(base64.b64decode(user[name]) for name in ("client-certificate-data", "client-key-data"))
        )
        tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        tls.load_cert_chain(pair)

        answer = await ask(b.secure.port, SECRET, tls=tls)

    assert re.fullmatch(rf"https://{LOOPBACK}:{a.secure.port}", cluster["server"])
    assert answer.status == 200


async def test_ten_replicas_that_start_together_share_one_set_of_keys(tmp_path: Path, etcd: Member) -> None:
    async with AsyncExitStack() as stack:
        started = await asyncio.gather(
            *(stack.enter_async_context(replica(tmp_path / str(number), etcd, "/ten")) for number in range(REPLICAS))
        )
        authorities = {one.pki.ca.certificate.read_bytes() for one in started}
        tokens = {one.pki.admin_token for one in started}
        token = await service_account_token(started[0])
        answers = [await with_token(one, token) for one in started]

    assert (len(authorities), len(tokens)) == (1, 1)
    assert [answer.status for answer in answers] == [403] * REPLICAS


async def test_the_first_replica_shares_what_its_directory_has(tmp_path: Path, etcd: Member) -> None:
    own = certificates.ensure(tmp_path / "a" / "pki", [LOOPBACK], SystemClock())
    service_account_keys.own_key(tmp_path / "a" / "pki")
    authority = own.ca.certificate.read_bytes()

    async with replica(tmp_path / "a", etcd, "/first") as a, replica(tmp_path / "b", etcd, "/first") as b:
        shared = [one.pki.ca.certificate.read_bytes() for one in (a, b)]
        tokens = [one.pki.admin_token for one in (a, b)]

    assert shared == [authority] * 2
    assert tokens == [own.admin_token] * 2


async def test_a_replica_with_another_authority_takes_the_shared_one_and_says_so(
    tmp_path: Path, etcd: Member, caplog: pytest.LogCaptureFixture
) -> None:
    certificates.ensure(tmp_path / "b" / "pki", [LOOPBACK], SystemClock())
    async with replica(tmp_path / "a", etcd, "/other") as a:
        with caplog.at_level("INFO"):
            caplog.clear()
            async with replica(tmp_path / "b", etcd, "/other") as b:
                answer = await with_certificate_of(a, b)

    assert answer.status == 200
    assert caplog.text.count("using the certificate authority that all replicas on this etcd share") == 1


async def test_keys_that_a_flag_names_are_not_shared(tmp_path: Path, etcd: Member) -> None:
    keys = []
    for name in ("a", "b"):
        keys.append(tmp_path / f"{name}.key")
        keys[-1].write_text(service_account_keys.new_key())
    async with (
        replica(tmp_path / "a", etcd, "/named", service_account_signing_key_file=keys[0]) as a,
        replica(tmp_path / "b", etcd, "/named", service_account_signing_key_file=keys[1]) as b,
    ):
        token = await service_account_token(a)
        answers = [await with_token(one, token) for one in (a, b)]

    assert [answer.status for answer in answers] == [403, 401]


async def test_a_server_that_starts_without_etcd_takes_the_shared_keys_when_it_is_back(tmp_path: Path) -> None:
    with Member() as etcd:
        async with replica(tmp_path / "a", etcd, "/late") as a:
            pass
        etcd.kill()
        late = await server.start(settings_of(tmp_path / "b", etcd, "/late"))
        try:
            await asyncio.to_thread(etcd.start)
            await late.wait_until_ready()

            answers = [await with_certificate_of(a, late), await with_token(late, a.pki.admin_token)]
        finally:
            await late.stop()

    assert [answer.status for answer in answers] == [200, 200]


async def test_a_changed_key_is_taken_over_although_another_one_cannot_be(caplog: pytest.LogCaptureFixture) -> None:
    clock, renewed = ManualClock(), asyncio.Event()

    def key(name: str, put: Callable[[KeyRing, float], bool]) -> SharedKey:
        return SharedKey(name=name, title=name, own=lambda: name, new=lambda: name, put=put)

    def fail(_ring: KeyRing, _now: float) -> bool:
        raise OSError("no space left on device")

    async def renew() -> None:
        renewed.set()

    secrets = SharedSecrets(MemoryKV(clock=clock), "/registry", IDENTITY)
    shared = SharedFiles(secrets, [key("good", lambda _ring, _now: True), key("bad", fail)], clock)
    following = asyncio.create_task(shared.run(renew))
    async with asyncio.timeout(30):
        while not renewed.is_set():
            await asyncio.sleep(0)
            clock.advance(LOOK_SECONDS)
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)

    assert "no space left on device" in caplog.text

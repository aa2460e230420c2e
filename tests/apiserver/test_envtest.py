"""The program as controller-runtime's envtest starts it: its flags, its files in --cert-dir, its administrator."""

import asyncio
import os
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from tests import program
from tests.storage.kv.certificates import Authority
from tests.storage.kv.etcd_server import Member, Port

_SECONDS = 60
"""The time for which envtest waits for an end."""


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """--cert-dir as envtest fills it: the pairs of the server and of service accounts, and the authority of clients."""
    made = tmp_path_factory.mktemp("certificates")
    Authority(made, "environment").issue("apiserver")
    Authority(made, "accounts").issue("sa-signer")
    return made


@pytest.fixture(scope="module")
def administrator(certificates: Path, tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """envtest's credentials for its tests: the server's authority, and a client certificate of system:masters."""
    own = tmp_path_factory.mktemp("administrator")
    issued = Authority(own, "client-cert-auth-ca").issue("admin", organizations=["system:masters"])
    issued.authority.rename(certificates / issued.authority.name)
    context = ssl.create_default_context(cafile=certificates / "environment.crt")
    context.load_cert_chain(issued.certificate, issued.key)
    return context


@pytest.fixture(scope="module")
def url(certificates: Path, administrator: ssl.SSLContext, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = Port()
    address = f"https://127.0.0.1:{port.number}"
    flags = {
        "allow-privileged": "true",
        "authorization-mode": "RBAC",
        "bind-address": "127.0.0.1",
        "cert-dir": certificates,
        "client-ca-file": certificates / "client-cert-auth-ca.crt",
        "disable-admission-plugins": "ServiceAccount",
        "insecure-port": 0,
        "secure-port": port.number,
        "service-account-issuer": f"{address}/",
        "service-account-key-file": certificates / "sa-signer.crt",
        "service-account-signing-key-file": certificates / "sa-signer.key",
        "service-cluster-ip-range": "10.0.0.0/24",
    }
    home = tmp_path_factory.mktemp("home")
    ready, log = home / "ready", home / "log"
    with Member() as etcd, log.open("wb") as output:
        flags |= {"etcd-servers": etcd.endpoint, "ready-file": ready}
        process = subprocess.Popen(
            [Path(sys.executable).with_name("kube-apiserver"), *(f"--{name}={flags[name]}" for name in flags)],
            env={"PATH": os.environ["PATH"], "HOME": str(home)},
            stdout=output,
            stderr=output,
        )
        try:
            program.wait_for(ready, process, log)
            yield address
        finally:
            process.terminate()
            assert process.wait(_SECONDS) == 0
            port.release()


@pytest.fixture
async def client(url: str, administrator: ssl.SSLContext) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(url, connector=aiohttp.TCPConnector(ssl=administrator)) as session:
        yield session


async def test_the_certificate_that_lies_in_the_directory_is_served_and_kept(
    client: aiohttp.ClientSession, certificates: Path, url: str
) -> None:
    host, _, port = url.removeprefix("https://").partition(":")
    served = await asyncio.to_thread(ssl.get_server_certificate, (host, int(port)))

    assert served.split() == (certificates / "apiserver.crt").read_text().split()


async def test_it_says_that_it_is_healthy(client: aiohttp.ClientSession) -> None:
    async with client.get("/healthz") as answer:
        assert (answer.status, await answer.text()) == (200, "ok")


async def test_a_client_of_its_authority_is_an_administrator(client: aiohttp.ClientSession) -> None:
    async with client.post("/api/v1/namespaces", json={"metadata": {"generateName": "made-"}}) as answer:
        assert answer.status == 201


async def test_its_key_signs_tokens_that_its_certificate_proves(client: aiohttp.ClientSession) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    async with client.post(accounts, json={"metadata": {"name": "robot"}}) as answer:
        assert answer.status == 201
    async with client.post(f"{accounts}/robot/token", json={}) as answer:
        token = (await answer.json())["status"]["token"]
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    async with client.post("/apis/authentication.k8s.io/v1/tokenreviews", json=review) as answer:
        status = (await answer.json())["status"]

    assert status["user"]["username"] == "system:serviceaccount:default:robot"

"""Replicas for tests: servers with one etcd and directories of their own."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.server import Server
from aio_apiserver.base.clock import Clock, ManualClock, SystemClock
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, bearer, trusting
from tests.storage.kv.etcd_server import Member

SECRET = "/api/v1/namespaces/kube-system/secrets"
"""Only an administrator may list them."""
TOKEN = "/api/v1/namespaces/default/serviceaccounts/default/token"


class SteppedClock(ManualClock):
    """The product's time in the hands of a test; waiting for others goes on."""

    def __init__(self) -> None:
        super().__init__(time.time())

    @property
    def patience(self) -> Clock:
        return SystemClock()


def settings_of(directory: Path, etcd: Member, prefix: str, **more: Any) -> Settings:
    given = {"storage_backend": "etcd3", "etcd_servers": (etcd.endpoint,), "etcd_prefix": prefix, "secure_port": 0}
    return Settings(data_dir=directory, bind_address=LOOPBACK, **{**given, **more})


async def started_replica(
    directory: Path, etcd: Member, prefix: str, *, clock: Clock | None = None, **more: Any
) -> Server:
    """A server that is ready, with everything but etcd of its own; the test stops it."""
    started = await server.start(settings_of(directory, etcd, prefix, **more), clock=clock)
    try:
        await started.wait_until_ready()
    except BaseException:  # its sockets and tasks would fail later tests, too
        await started.stop()
        raise
    return started


@asynccontextmanager
async def replica(
    directory: Path, etcd: Member, prefix: str, *, clock: Clock | None = None, **more: Any
) -> AsyncIterator[Server]:
    """As `started_replica`, and stopped in the end."""
    started = await started_replica(directory, etcd, prefix, clock=clock, **more)
    try:
        yield started
    finally:
        await started.stop()


async def with_token(asked: Server, token: str, path: str = SECRET) -> Answer:
    return await ask(asked.secure.port, path, headers=bearer(token), tls=trusting(asked))


async def with_certificate_of(other: Server, asked: Server) -> Answer:
    """Ask a server with the administrator's certificate, and the trust, of another one."""
    return await ask(asked.secure.port, SECRET, tls=as_admin(other))


async def service_account_token(asked: Server) -> str:
    """A token of a service account, which is made when it is not there."""
    account = orjson.dumps({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
    await _post(asked, TOKEN.rpartition("/default/")[0], account)
    answer = await _post(asked, TOKEN, b'{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}')
    assert answer.status == 201, answer.text
    token: str = answer.json["status"]["token"]
    return token


async def _post(asked: Server, path: str, body: bytes) -> Answer:
    return await ask(
        asked.secure.port,
        path,
        method="POST",
        body=body,
        headers={"Content-Type": "application/json"},
        tls=as_admin(asked),
    )

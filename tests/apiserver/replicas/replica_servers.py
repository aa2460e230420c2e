"""Replicas for tests: servers with one etcd and directories of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, bearer, running, trusting
from tests.storage.kv.etcd_server import Member

SECRET = "/api/v1/namespaces/kube-system/secrets"
"""Only an administrator may list them."""
TOKEN = "/api/v1/namespaces/default/serviceaccounts/default/token"


@asynccontextmanager
async def replica(directory: Path, etcd: Member, prefix: str, **more: Any) -> AsyncIterator[Server]:
    """A server that is ready, with everything but etcd of its own."""
    given = {"storage_backend": "etcd3", "etcd_servers": (etcd.endpoint,), "etcd_prefix": prefix, **more}
    async with running(directory, **given) as started:
        yield started


async def with_token(server: Server, token: str, path: str = SECRET) -> Answer:
    return await ask(server.secure.port, path, headers=bearer(token), tls=trusting(server))


async def with_certificate_of(other: Server, server: Server) -> Answer:
    """Ask a server with the administrator's certificate, and the trust, of another one."""
    return await ask(server.secure.port, SECRET, tls=as_admin(other))


async def service_account_token(server: Server) -> str:
    """A token of a service account, which is made when it is not there."""
    account = orjson.dumps({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
    await _post(server, TOKEN.rpartition("/default/")[0], account)
    answer = await _post(server, TOKEN, b'{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}')
    assert answer.status == 201, answer.text
    token: str = answer.json["status"]["token"]
    return token


async def _post(server: Server, path: str, body: bytes) -> Answer:
    return await ask(
        server.secure.port,
        path,
        method="POST",
        body=body,
        headers={"Content-Type": "application/json"},
        tls=as_admin(server),
    )

"""A store that stops while the server runs, or that is not available yet: a real etcd, over real HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, trusting
from tests.storage.kv.etcd_server import Member
from tests.storage.kv.etcd_users import FAST_PASSWORDS, Administrator

MAPS = "/api/v1/namespaces/default/configmaps"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"


@pytest.fixture
def etcd(etcd_binary: Path) -> Any:
    with Member(binary=etcd_binary) as member:
        yield member


@asynccontextmanager
async def serving(directory: Path, etcd: Member, **more: Any) -> AsyncIterator[Server]:
    """A server that may be unready."""
    given = {"storage_backend": "etcd3", "etcd_servers": (etcd.endpoint,), "bind_address": LOOPBACK, **more}
    started = await server.start(Settings(data_dir=directory, secure_port=0, **given))
    try:
        yield started
    finally:
        await started.stop()


def config_map(name: str) -> bytes:
    return orjson.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


async def request(
    server: Server, method: str, path: str, body: bytes = b"", media_type: str = "application/json"
) -> Answer:
    headers = {"Content-Type": media_type}
    return await ask(server.secure.port, path, method=method, body=body, headers=headers, tls=as_admin(server))


async def wait_for_event(reader: asyncio.StreamReader, name: str) -> None:
    await reader.readuntil(f'"name":"{name}"'.encode())


async def test_every_verb_says_what_to_do_when_the_store_is_gone_and_goes_on_when_it_is_back(
    tmp_path: Path, etcd: Member
) -> None:
    async with serving(tmp_path, etcd) as server:
        await server.wait_until_ready()
        await request(server, "POST", MAPS, config_map("a"))
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
        writer.write(f"GET {MAPS}?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        await wait_for_event(reader, "a")
        etcd.kill()

        consistent = await asyncio.gather(  # of many resources: those who ask the same of a store wait in turns
            request(server, "GET", f"{MAPS}/a"),
            request(server, "GET", "/apis/apps/v1/deployments"),
            request(server, "GET", "/api/v1/pods?watch=1"),
            request(server, "POST", MAPS, config_map("b")),
            request(server, "POST", f"{MAPS}?dryRun=All", config_map("a")),
            request(server, "PUT", f"{MAPS}/a", config_map("a")),
            request(server, "PATCH", f"{MAPS}/a", b'{"data":{"x":"y"}}', MERGE),
            request(server, "PATCH", f"{MAPS}/c?fieldManager=m", config_map("c"), APPLY),
            request(server, "DELETE", f"{MAPS}/a"),
            request(server, "DELETE", "/api/v1/namespaces/default/limitranges"),
        )
        from_cache = [await request(server, "GET", f"{MAPS}{path}?resourceVersion=0") for path in ("/a", "")]
        health = [await request(server, "GET", path) for path in ("/livez", "/readyz", "/readyz/etcd-readiness")]
        alive = await request(server, "GET", "/livez/ping")
        await asyncio.to_thread(etcd.start)
        again = await request(server, "POST", MAPS, config_map("d"))
        await wait_for_event(reader, "d")
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)
        while (ready := await request(server, "GET", "/readyz")).status != 200:
            pass

    assert {(answer.status, answer.json["reason"]) for answer in consistent} == {(500, "ServerTimeout")}
    assert all(answer.headers["retry-after"] == "2" for answer in consistent)
    assert consistent[0].json["message"] == (
        "The get operation against configmaps could not be completed at this time, please try again."
    )
    assert [answer.status for answer in from_cache] == [200, 200]
    assert [answer.status for answer in health] == [500, 500, 500]
    assert "[-]etcd failed: reason withheld" in health[0].text
    assert "[-]etcd-readiness failed: reason withheld" in health[1].text
    assert (alive.status, again.status, ready.status) == (200, 201, 200)


async def test_a_write_with_an_unknown_end_says_so(tmp_path: Path, etcd: Member) -> None:
    async with serving(tmp_path, etcd) as server:
        await server.wait_until_ready()
        etcd.pause()
        answer = await request(server, "POST", MAPS, config_map("a"))
        etcd.resume()
        while (await request(server, "GET", f"{MAPS}/a")).status not in (200, 404):
            pass

    assert (answer.status, answer.json["reason"]) == (504, "Timeout")
    assert "the outcome of the write is unknown" in answer.json["message"]


async def test_a_server_that_comes_before_its_store_waits_for_it(tmp_path: Path, etcd: Member) -> None:
    etcd.kill()

    async with serving(tmp_path, etcd) as server:
        starting = asyncio.create_task(server.wait_until_ready())
        early = await asyncio.gather(
            request(server, "GET", f"{MAPS}?timeout=1s"),
            request(server, "GET", f"{MAPS}?timeout=1s&resourceVersion=0"),
            request(server, "POST", f"{MAPS}?timeout=1s", config_map("a")),
            request(server, "GET", "/readyz"),
        )
        version = await request(server, "GET", "/version")
        await asyncio.to_thread(etcd.start)
        await starting
        late = [await request(server, "POST", MAPS, config_map("a")), await request(server, "GET", "/readyz")]

    assert [answer.status for answer in early] == [504, 504, 504, 500]
    assert {answer.json["reason"] for answer in early[:3]} == {"Timeout"}
    assert (version.status, *(answer.status for answer in late)) == (200, 201, 200)


async def test_a_server_that_etcd_does_not_admit_says_so_and_becomes_ready_when_it_is_admitted(
    tmp_path: Path, etcd_binary: Path
) -> None:
    with Member(binary=etcd_binary, flags=[FAST_PASSWORDS]) as etcd:
        administrator = Administrator(etcd)
        await administrator.enable()
        async with serving(tmp_path, etcd) as server:
            starting = asyncio.create_task(server.wait_until_ready())
            summary = await ask(server.secure.port, "/readyz", tls=trusting(server))
            single = await request(server, "GET", "/readyz/etcd")
            await administrator.disable()
            await starting
            late = await request(server, "GET", "/readyz")
        await administrator.close()

    assert (summary.status, single.status, late.status) == (500, 500, 200)
    assert "warn: etcd: the server wants a user" in summary.text
    assert "--etcd-certfile" in summary.text
    assert f"{etcd.endpoint}: etcd asks for a user" in single.text

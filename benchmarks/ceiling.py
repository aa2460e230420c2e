"""Ceiling: python -m benchmarks.ceiling DIRECTORY, a bare aiohttp application over TLS, the upper limit for a server.

It does no work of an API server: it answers with prepared bytes, stores nothing, and sends created objects to all
watchers. Its figures are the limits of aiohttp, TLS and this machine. The directory has its responses, its certificate
and its key; it writes its address there.
"""

import asyncio
import itertools
import ssl
import sys
from pathlib import Path

import msgspec
import orjson
import uvloop
from aiohttp import web

POD, PODS, CERTIFICATE, KEY, READY = "pod.json", "pods.json", "ceiling.crt", "ceiling.key", "ceiling.ready"
OTHERS = "others.msgpack"
"""Further responses, by Accept header and path."""
_TURN_SECONDS = 0.002
"""Objects that are created within this time go to the watchers together."""


class Ceiling:
    """Answers requests for one pod, for a list of pods, creates and watches."""

    def __init__(self, directory: Path) -> None:
        self._pod = (directory / POD).read_bytes()
        self._pods = (directory / PODS).read_bytes()
        others = directory / OTHERS
        self._others: dict[str, bytes] = msgspec.msgpack.decode(others.read_bytes()) if others.exists() else {}
        self._revisions = itertools.count(1)
        self._watchers: set[asyncio.WriteTransport] = set()
        self._pending: list[bytes] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if "Authorization" not in request.headers:
            return web.Response(status=401)
        if request.method == "POST":
            return _json(self._create(await request.read()), status=201)
        if "watch" in request.query:
            return await self._watch(request)
        other = self._others.get(f"{request.headers['Accept']} {request.path_qs}")
        if other is not None:
            return web.Response(body=other, content_type=request.headers["Accept"].partition(";")[0])
        return _json(self._pods if request.path.endswith("/pods") else self._pod)

    def _create(self, body: bytes) -> bytes:
        obj = orjson.loads(body)
        obj["metadata"]["resourceVersion"] = str(next(self._revisions))
        created = orjson.dumps(obj)
        if not self._pending:
            asyncio.get_running_loop().call_later(_TURN_SECONDS, self._flush)
        self._pending.append(b'{"type":"ADDED","object":%b}\n' % created)
        return created

    def _flush(self) -> None:
        data = b"".join(self._pending)
        self._pending.clear()
        frame = b"%x\r\n%b\r\n" % (len(data), data)
        for watcher in self._watchers:
            watcher.write(frame)

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        transport = request.transport
        assert transport is not None
        self._watchers.add(transport)
        try:
            await asyncio.Event().wait()
        finally:
            self._watchers.discard(transport)
        return response


def _json(body: bytes, *, status: int = 200) -> web.Response:
    return web.Response(body=body, status=status, content_type="application/json")


async def _serve(directory: Path) -> None:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", Ceiling(directory).handle)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / CERTIFICATE, directory / KEY)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    host, port = runner.addresses[0]
    ready = directory / f"{READY}.new"
    ready.write_text(f"https://{host}:{port}\n")
    ready.rename(directory / READY)
    await asyncio.Event().wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as running:
        running.run(_serve(Path(sys.argv[1])))

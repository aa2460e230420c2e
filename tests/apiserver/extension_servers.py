"""An extension API server for tests: a real HTTPS server that serves one version of a group.

It reads the user from the headers of a front proxy, and demands the proxy's client certificate, as such servers do.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson
from aiohttp import web

from tests.storage.kv.certificates import Authority

GROUP, VERSION = "hello.example.com", "v1"
ROOT = f"/apis/{GROUP}/{VERSION}"
NAMES = ("hello.default.svc",)
GREETING = {
    "kind": "Greeting",
    "apiVersion": f"{GROUP}/{VERSION}",
    "metadata": {"name": "one", "namespace": "default"},
    "text": "hello",
}
RESOURCE = {
    "name": "greetings",
    "singularName": "greeting",
    "namespaced": True,
    "kind": "Greeting",
    "verbs": ["get", "list", "watch", "create"],
    "shortNames": ["gr"],
}
DISCOVERY = {
    "version": VERSION,
    "resources": [
        {
            "resource": "greetings",
            "responseKind": {"group": GROUP, "version": VERSION, "kind": "Greeting"},
            "scope": "Namespaced",
            "singularResource": "greeting",
            "verbs": ["get", "list", "watch", "create"],
            "shortNames": ["gr"],
        }
    ],
    "freshness": "Current",
}
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
DEFINITION = "com.example.hello.v1.Greeting"
SCHEMA = {
    "description": "A greeting.",
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "x-kubernetes-group-version-kind": [{"group": GROUP, "version": VERSION, "kind": "Greeting"}],
}


class Extension:
    """Answers, and records requests. `fails`: it answers with failures. `hangs_up`: it closes the connection.

    `redirects`: the status and the target that every request gets. `documents`: the answers by path.
    """

    def __init__(self, *, is_modern: bool = True, documents: Mapping[str, Any] | None = None) -> None:
        self.is_modern = is_modern
        self.documents = _DOCUMENTS if documents is None else documents
        self.targets: list[str] = []
        self.fails = False
        self.asked: list[tuple[str, str, Mapping[str, Sequence[str]]]] = []
        self.go_on = asyncio.Event()
        self.port = 0
        self.hangs_up = False
        self.redirects: tuple[int, str] | None = None

    def headers(self, path: str) -> Mapping[str, Sequence[str]]:
        """The headers of the last request for a path."""
        return next(headers for _, asked, headers in reversed(self.asked) if asked == path)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        names = {name.lower() for name in request.headers}
        headers = {name: request.headers.getall(name) for name in names}
        self.asked.append((request.method, request.path, headers))
        self.targets.append(request.path_qs)
        if self.fails:
            return web.Response(status=500)
        if self.hangs_up:
            assert request.transport is not None
            request.transport.abort()
            raise ConnectionResetError
        if self.redirects is not None:
            code, target = self.redirects
            return web.Response(status=code, headers={"Location": target} if target else None)
        if request.method == "DELETE":
            return self._delete(request.path)
        if request.method == "POST":
            return web.Response(body=await request.read(), status=201, content_type="application/json")
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await _echo(request)
        if request.query_string.startswith("watch="):
            return await self._watch(request)
        if request.path == "/apis" and self.is_modern:
            items = [{"metadata": {"name": GROUP}, "versions": [DISCOVERY]}]
            told = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items}
            return web.Response(body=orjson.dumps(told), headers={"Content-Type": AGGREGATED})
        document = self.documents.get(request.path)
        if document is None:
            return web.Response(status=404, text="404 page not found\n")
        return web.Response(body=orjson.dumps(document), content_type="application/json")

    def _delete(self, path: str) -> web.Response:
        """Delete the objects of a list, or the object of a path from its list."""
        parent, _, name = path.rpartition("/")
        if path in self.documents:
            left, path = [], path
        else:
            items = self.documents.get(parent, {}).get("items") or ()
            left, path = [one for one in items if one["metadata"]["name"] != name], parent
        self.documents = {**self.documents, path: {**self.documents.get(path, {}), "items": left}}
        return web.Response(body=b"{}", content_type="application/json")

    async def _watch(self, request: web.BaseRequest) -> web.StreamResponse:
        """One event at once, and another when the test allows it."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for kind in ("ADDED", "MODIFIED"):
            await response.write(orjson.dumps({"type": kind, "object": GREETING}) + b"\n")
            await self.go_on.wait()
        return response


async def _echo(request: web.BaseRequest) -> web.StreamResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.send_str(request.headers.get("X-Remote-User", ""))
    async for message in socket:
        await socket.send_str(f"echo {message.data}")
    return socket


_PATH = f"{ROOT}/namespaces/{{namespace}}/greetings"
_OPENAPI3 = {
    "openapi": "3.0.0",
    "info": {"title": "hello", "version": "1"},
    "paths": {
        _PATH: {
            "get": {
                "operationId": "listGreetings",
                "responses": {},
                "x-kubernetes-action": "list",
                "x-kubernetes-group-version-kind": {"group": GROUP, "version": VERSION, "kind": "Greeting"},
            }
        }
    },
    "components": {"schemas": {DEFINITION: SCHEMA}},
}
_DOCUMENTS: Mapping[str, Any] = {
    ROOT: {"kind": "APIResourceList", "groupVersion": f"{GROUP}/{VERSION}", "resources": [RESOURCE]},
    f"{ROOT}/namespaces/default/greetings": {
        "kind": "GreetingList",
        "apiVersion": f"{GROUP}/{VERSION}",
        "metadata": {"resourceVersion": "1"},
        "items": [GREETING],
    },
    f"{ROOT}/namespaces/default/greetings/one": GREETING,
    "/openapi/v2": {
        "swagger": "2.0",
        "paths": {
            _PATH: {
                "get": {
                    "operationId": "listGreetings",
                    "responses": {"200": {"description": "OK", "schema": {"$ref": f"#/definitions/{DEFINITION}"}}},
                }
            },
            "/elsewhere": {},
        },
        "definitions": {DEFINITION: SCHEMA, "com.example.unused": {}},
    },
    "/openapi/v3": {"paths": {ROOT[1:]: {"serverRelativeURL": f"/openapi/v3{ROOT}?hash=H"}}},
    f"/openapi/v3{ROOT}": _OPENAPI3,
}


@asynccontextmanager
async def extension(
    authority: Authority,
    *,
    wants_certificate: bool = False,
    is_modern: bool = True,
    documents: Mapping[str, Any] | None = None,
) -> AsyncIterator[Extension]:
    """An extension server on a free port."""
    files = authority.issue("extension", NAMES)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    if wants_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority.file)
    served = Extension(is_modern=is_modern, documents=documents)
    runner = web.ServerRunner(web.Server(served.handle), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        assert site._server is not None
        served.port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        yield served
    finally:
        served.go_on.set()
        await runner.cleanup()

"""Aggregation: a group of an extension server, requested through this server."""

import asyncio
import base64
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.extension_servers import DEFINITION, GROUP, ROOT, VERSION, Extension, extension
from tests.apiserver.serving import Answer, as_admin, ask, bearer, running, trusting
from tests.storage.kv.certificates import Authority

GREETINGS = f"{ROOT}/namespaces/default/greetings"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
NAME = f"{VERSION}.{GROUP}"
OPENAPI_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def send(server: Server, target: str, *, method: str = "GET", obj: Any = None, **headers: str) -> Answer:
    body = b"" if obj is None else orjson.dumps(obj)
    given = {"Content-Type": "application/json", **headers}
    return await ask(server.secure.port, target, method=method, headers=given, body=body, tls=as_admin(server))


async def make(server: Server, target: str, obj: dict[str, Any]) -> None:
    answer = await send(server, target, method="POST", obj=obj)
    assert answer.status == 201, answer.text


async def register(server: Server, authority: Authority, port: int, **spec: Any) -> None:
    """A service that leads to this machine (cluster IPs are not routed here), and the APIService that names it."""
    service = {"metadata": {"name": "hello"}, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    await make(server, "/api/v1/namespaces/default/services", service)
    trust = {"caBundle": base64.b64encode(authority.file.read_bytes()).decode()}
    await make(server, API_SERVICES, api_service(port, **{**trust, **spec}))


def api_service(port: int, **spec: Any) -> dict[str, Any]:
    service = {"namespace": "default", "name": "hello", "port": port}
    common = {"group": GROUP, "version": VERSION, "groupPriorityMinimum": 2000, "versionPriority": 10}
    return {"metadata": {"name": NAME}, "spec": {**common, "service": service, **spec}}


async def condition(server: Server, reason: str) -> dict[str, Any]:
    """The condition of the APIService, as soon as it has this reason."""
    while True:
        status = (await send(server, f"{API_SERVICES}/{NAME}")).json.get("status") or {}
        for one in status.get("conditions") or ():
            if one["reason"] == reason:
                found: dict[str, Any] = one
                return found


async def available(server: Server) -> None:
    """Return when requests are forwarded."""
    await condition(server, "Passed")
    while (await send(server, ROOT)).status != 200:
        pass


async def discovered(server: Server, freshness: str = "Current") -> list[dict[str, Any]]:
    """All groups of aggregated discovery, as soon as it has the extension's version."""
    while True:
        items: list[dict[str, Any]] = (await send(server, "/apis", **AGGREGATED)).json["items"]
        told = [one for group in items if group["metadata"]["name"] == GROUP for one in group["versions"]]
        if any(one["freshness"] == freshness for one in told):
            return items


@asynccontextmanager
async def aggregating(directory: Path, authority: Authority, **settings: Any) -> AsyncIterator[Server]:
    """A server with a client certificate for its proxy."""
    files = authority.issue("front-proxy")
    async with running(
        directory,
        proxy_client_cert_file=files.certificate,
        proxy_client_key_file=files.key,
        disable_admission_plugins=("ServiceAccount",),
        **settings,
    ) as server:
        yield server


@asynccontextmanager
async def registered(
    directory: Path, authority: Authority, *, is_modern: bool = True, **settings: Any
) -> AsyncIterator[tuple[Server, Extension]]:
    """A server with an available extension."""
    async with (
        extension(authority, wants_certificate=True, is_modern=is_modern) as served,
        aggregating(directory, authority, **settings) as server,
    ):
        await register(server, authority, served.port)
        await available(server)
        yield server, served


async def test_requests_go_on_with_the_name_of_who_asks(tmp_path: Path, authority: Authority) -> None:
    (tmp_path / "tokens.csv").write_text('secret,jane,7,"devs,ops"\n')
    modes: dict[str, Any] = {"authorization_mode": ("AlwaysAllow",), "token_auth_file": tmp_path / "tokens.csv"}

    async with registered(tmp_path, authority, **modes) as (server, served):
        given = {**bearer("secret"), "X-Remote-User": "somebody", "X-Remote-Extra-x": "y", "Audit-ID": "a1"}
        answer = await ask(server.secure.port, f"{GREETINGS}?limit=5", headers=given, tls=trusting(server))
        made = await send(server, GREETINGS, method="POST", obj={"text": "hi"})

    headers = next(headers for method, path, headers in served.asked if (method, path) == ("GET", GREETINGS))
    assert answer.json["items"][0]["text"] == "hello"
    assert (headers["x-remote-user"], headers["x-remote-uid"]) == (["jane"], ["7"])
    assert headers["x-remote-group"] == ["devs", "ops", "system:authenticated"]
    assert "authorization" not in headers
    assert "x-remote-extra-x" not in headers
    assert headers["audit-id"] == ["a1"]
    assert (made.status, made.json) == (201, {"text": "hi"})


async def test_watches_are_passed_on_event_by_event(tmp_path: Path, authority: Authority) -> None:
    async with registered(tmp_path, authority) as (server, served):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.secure.port, ssl=as_admin(server))
        writer.write(f"GET {GREETINGS}?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        first = await reader.readuntil(b"}}\n")
        served.go_on.set()
        second = await reader.readuntil(b"}}\n")
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    assert b"ADDED" in first
    assert b"MODIFIED" in second


async def test_web_sockets_are_passed_on(tmp_path: Path, authority: Authority) -> None:
    async with (
        registered(tmp_path, authority) as (server, _),
        aiohttp.ClientSession() as client,
        client.ws_connect(f"{server.url}{GREETINGS}/one/chat", ssl=as_admin(server)) as socket,
    ):
        user = await socket.receive_str()
        await socket.send_str("you")
        echoed = await socket.receive_str()

    assert (user, echoed) == ("kubernetes-admin", "echo you")


@pytest.mark.parametrize("is_modern", [True, False])
async def test_discovery_tells_of_the_version(tmp_path: Path, authority: Authority, is_modern: bool) -> None:
    async with registered(tmp_path, authority, is_modern=is_modern) as (server, _):
        items = await discovered(server)
        groups = (await send(server, "/apis")).json["groups"]
        group = (await send(server, f"/apis/{GROUP}")).json
        resources = (await send(server, ROOT)).json

    (told,) = (one for one in items if one["metadata"]["name"] == GROUP)
    (version,) = told["versions"]
    assert [one["resource"] for one in version["resources"]] == ["greetings"]
    assert version["resources"][0]["shortNames"] == ["gr"]
    assert groups[-1]["name"] == group["name"] == GROUP
    assert group["preferredVersion"] == {"groupVersion": f"{GROUP}/{VERSION}", "version": VERSION}
    assert resources["resources"][0]["name"] == "greetings"


async def test_openapi_tells_of_the_version(tmp_path: Path, authority: Authority) -> None:
    async with registered(tmp_path, authority) as (server, _):
        await discovered(server)
        swagger = (await send(server, "/openapi/v2")).json
        protobuf = await send(server, "/openapi/v2", Accept=OPENAPI_PROTOBUF)
        index = (await send(server, "/openapi/v3")).json
        document = (await send(server, index["paths"][ROOT[1:]]["serverRelativeURL"])).json

    assert f"{ROOT}/namespaces/{{namespace}}/greetings" in swagger["paths"]
    assert "/elsewhere" not in swagger["paths"]
    assert protobuf.status == 200
    assert DEFINITION.encode() in protobuf.body
    assert DEFINITION in swagger["definitions"]
    assert "com.example.unused" not in swagger["definitions"]
    assert DEFINITION in document["components"]["schemas"]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl")
async def test_kubectl_finds_the_resource(tmp_path: Path, authority: Authority) -> None:
    async with registered(tmp_path, authority) as (server, _):
        await discovered(server)
        found = [await kubectl(server, *words.split()) for words in ("get gr -o name", "explain greetings")]
        raw = await kubectl(server, "get", "--raw", f"{GREETINGS}/one")

    assert found[0] == "greeting.hello.example.com/one\n"
    assert "A greeting." in found[1]
    assert orjson.loads(raw)["text"] == "hello"


async def kubectl(server: Server, *words: str) -> str:
    """The output of kubectl."""
    cache = f"--cache-dir={server.settings.data_dir}/kubectl"
    process = await asyncio.create_subprocess_exec(
        "kubectl",
        *(f"--kubeconfig={server.settings.kubeconfig_file}", cache, *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0, complaints
    return printed.decode()


async def test_without_its_service_a_version_is_not_available(tmp_path: Path, authority: Authority) -> None:
    async with aggregating(tmp_path, authority) as server:
        await make(server, API_SERVICES, api_service(443, insecureSkipTLSVerify=True))
        found = await condition(server, "ServiceNotFound")
        refused = await send(server, f"{ROOT}/greetings")
        listed = await discovered(server, "Stale")

    assert (found["status"], found["message"]) == ("False", 'service/hello in "default" is not present')
    assert (refused.status, refused.text) == (503, "service unavailable\n")
    assert [one["versions"] for one in listed if one["metadata"]["name"] == GROUP] == [
        [{"version": VERSION, "freshness": "Stale"}]
    ]


async def test_a_server_that_is_not_well_is_not_available_until_it_is(tmp_path: Path, authority: Authority) -> None:
    async with extension(authority) as served, aggregating(tmp_path, authority) as server:
        served.fails = True
        await register(server, authority, served.port)
        found = await condition(server, "FailedDiscoveryCheck")
        served.fails = False
        patched = {"metadata": {"labels": {"look": "again"}}}
        await send(
            server,
            f"{API_SERVICES}/{NAME}",
            method="PATCH",
            obj=patched,
            **{"Content-Type": "application/merge-patch+json"},
        )
        passed = await condition(server, "Passed")

    url = f"https://localhost:{served.port}{ROOT}"
    assert found["message"] == f"failing or missing response from {url}: bad status from {url}: 500"
    assert (passed["status"], passed["message"]) == ("True", "all checks passed")


async def test_a_server_with_another_name_is_not_believed(tmp_path: Path, authority: Authority) -> None:
    other = tmp_path / "other"
    other.mkdir()

    async with extension(Authority(other)) as served, aggregating(tmp_path, authority) as server:
        await register(server, authority, served.port)
        found = await condition(server, "FailedDiscoveryCheck")

    assert "failed to verify certificate" in found["message"]


async def test_any_certificate_will_do_if_the_registration_says_so(tmp_path: Path, authority: Authority) -> None:
    other = tmp_path / "other"
    other.mkdir()

    async with extension(Authority(other)) as served, aggregating(tmp_path, authority) as server:
        await register(server, authority, served.port, caBundle=None, insecureSkipTLSVerify=True)
        await available(server)
        answer = await send(server, f"{GREETINGS}/one")

    assert answer.json["text"] == "hello"


async def test_a_server_that_hangs_up_is_told_as_kube_apiserver_tells_it(tmp_path: Path, authority: Authority) -> None:
    async with registered(tmp_path, authority) as (server, served):
        served.hangs_up = True
        answer = await send(server, f"{GREETINGS}/one")

    assert (answer.status, answer.text) == (503, "error trying to reach service: EOF\n")


async def test_without_a_registration_nothing_of_it_is_there(tmp_path: Path, authority: Authority) -> None:
    async with registered(tmp_path, authority) as (server, _):
        await send(server, f"{API_SERVICES}/{NAME}", method="DELETE")
        while (await send(server, f"{GREETINGS}/one")).status != 404:
            pass
        while (await send(server, f"/apis/{GROUP}")).status != 404:
            pass
        groups = (await send(server, "/apis")).json["groups"]

    assert GROUP not in [one["name"] for one in groups]

"""Logs, commands and ports of simulated pods, over the API server."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
import orjson
import pytest

from aio_apiserver.apiserver.simulated_kubelet.simulated import ExecCall, ExecResult
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from aio_apiserver.simulation.containers.files import FileTree
from aio_apiserver.simulation.containers.memory import Memory
from aio_apiserver.simulation.kubelet.volume_trees import VolumeTrees
from aio_apiserver.simulation.model import node_objects
from tests.apiserver import serving
from tests.controllers import clusters

_PODS = "/api/v1/namespaces/default/pods"
_NEWEST = "v5.channel.k8s.io"


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[clusters.Cluster]:
    async with clusters.running(tmp_path, "serviceaccount-controller", simulate=True) as made:
        await made.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        yield made


@pytest.fixture
async def admin(cluster: clusters.Cluster) -> AsyncIterator[aiohttp.ClientSession]:
    tls = aiohttp.TCPConnector(ssl=serving.as_admin(cluster.server))
    async with aiohttp.ClientSession(cluster.server.url, connector=tls) as session:
        yield session


async def _run(cluster: clusters.Cluster, name: str, *command: str, image: str = "busybox", **more: Any) -> None:
    """Make a pod, and wait until it is not pending."""
    annotations = {f"simulate.aio-apiserver/{key}": text for key, text in more.pop("annotations", {}).items()}
    containers = [{"name": "main", "image": image, "command": list(command), **more.pop("container", {})}]
    pod: Object = {"metadata": {"name": name, "annotations": annotations}, "spec": {"containers": containers, **more}}
    await cluster.client.create(places.PODS, pod, namespace="default")

    def is_up(items: dict[str, Object]) -> bool:
        return (items.get(f"default/{name}", {}).get("status") or {}).get("phase") not in (None, "Pending")

    await cluster.until(places.PODS, is_up)


async def _exec(
    admin: aiohttp.ClientSession, pod: str, *command: str, stdin: bytes | None = None, tty: bool = False
) -> tuple[bytes, bytes, Any]:
    """The output, the errors and the Status of a command."""
    flags = {"container": "main", "stdout": 1, "stderr": 1, "stdin": int(stdin is not None), "tty": int(tty)}
    query = urlencode({"command": command, **flags}, doseq=True)
    output: dict[int, bytes] = {}
    async with admin.ws_connect(f"{_PODS}/{pod}/exec?{query}", protocols=(_NEWEST,)) as socket:
        assert socket.protocol == _NEWEST
        if stdin is not None:
            await socket.send_bytes(b"\x00" + stdin)
            await socket.send_bytes(b"\xff\x00")
        async for message in socket:
            output[message.data[0]] = output.get(message.data[0], b"") + message.data[1:]
    return output.get(1, b""), output.get(2, b""), orjson.loads(output[3])


async def test_a_log_is_what_the_script_has_written(cluster: clusters.Cluster, admin: aiohttp.ClientSession) -> None:
    await _run(cluster, "talks", "sh", "-c", "echo one; echo two; sleep 1h; echo three")
    await _run(cluster, "told", "sleep", "1h", annotations={"logs": "first\nlast"})
    await _run(cluster, "server", image="nginx", container={"command": []})

    async def log(pod: str, options: str = "") -> str:
        async with admin.get(f"{_PODS}/{pod}/log?{options}") as answer:
            assert answer.status == 200
            return await answer.text()

    assert await log("talks") == "one\ntwo\n"
    assert await log("talks", "tailLines=1") == "two\n"
    assert await log("talks", "limitBytes=2") == "on"
    assert await log("told") == "first\nlast\n"
    assert "This container is simulated" in await log("server")
    line = (await log("talks", "timestamps=true")).splitlines()[0]
    assert line.endswith("Z one")


async def test_a_follower_gets_what_comes_later_and_the_end(
    cluster: clusters.Cluster, admin: aiohttp.ClientSession
) -> None:
    await _run(cluster, "ends", "sh", "-c", "echo one; sleep 0.2; echo two", restartPolicy="Never")

    async with admin.get(f"{_PODS}/ends/log?follow=true") as answer:
        assert await answer.text() == "one\ntwo\n"


async def test_a_pod_that_has_not_started_has_no_log(cluster: clusters.Cluster, admin: aiohttp.ClientSession) -> None:
    await _run(cluster, "fine", "sleep", "1h")

    async with admin.get(f"{_PODS}/fine/log?previous=true") as answer:
        refused = await answer.json()

    assert (answer.status, refused["message"]) == (
        400,
        'previous terminated container "main" in pod "fine" not found',
    )


async def test_commands_run_in_a_simulated_container(cluster: clusters.Cluster, admin: aiohttp.ClientSession) -> None:
    await cluster.client.create(
        places.CONFIG_MAPS, {"metadata": {"name": "settings"}, "data": {"colour": "blue"}}, namespace="default"
    )
    container = {
        "env": [{"name": "GREETING", "value": "hello"}],
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/settings"}],
    }
    volumes = [{"name": "settings", "configMap": {"name": "settings"}}]
    await _run(cluster, "shell", "sleep", "1h", container=container, volumes=volumes)

    assert (await _exec(admin, "shell", "sh", "-c", "echo $GREETING; hostname; cat /etc/settings/colour"))[0] == (
        b"hello\nshell\nblue"
    )
    assert await _exec(admin, "shell", "sh", "-c", "echo kept > /root/f; exit 3") == (
        b"",
        b"",
        {
            "metadata": {},
            "status": "Failure",
            "message": "command terminated with non-zero exit code: exit status 3",
            "reason": "NonZeroExitCode",
            "details": {"causes": [{"reason": "ExitCode", "message": "3"}]},
        },
    )
    assert (await _exec(admin, "shell", "cat", "/root/f"))[0] == b"kept\n"
    output, _, status = await _exec(admin, "shell", "cat", stdin=b"typed")
    assert (output, status["status"]) == (b"typed", "Success")
    assert b"containers are simulated" in (await _exec(admin, "shell", "python"))[1]


async def test_a_command_sees_files_of_the_script_and_makes_the_container_ready(
    cluster: clusters.Cluster, admin: aiohttp.ClientSession
) -> None:
    probe = {"exec": {"command": ["test", "-f", "/data/go"]}, "periodSeconds": 1}
    script = "mkdir /data; echo one > /data/f; sleep 1h; echo two > /data/f"
    await _run(cluster, "waits", "sh", "-c", script, container={"readinessProbe": probe})

    def is_ready(items: dict[str, Object]) -> bool:
        return bool(items["default/waits"]["status"]["containerStatuses"][0]["ready"])

    assert not is_ready(await cluster.until(places.PODS, lambda _items: True))
    assert (await _exec(admin, "waits", "sh", "-c", "cat /data/*; touch /data/go"))[0] == b"one\n"
    await cluster.until(places.PODS, is_ready)


async def test_containers_of_a_pod_share_the_files_of_an_empty_volume(
    cluster: clusters.Cluster, admin: aiohttp.ClientSession
) -> None:
    mount = {"name": "shared", "mountPath": "/data"}
    script = "echo page > /data/sub/index.html; touch /tmp/own; exit 1"
    writer = {"name": "writer", "image": "busybox", "command": ["sh", "-c", script], "volumeMounts": [mount]}
    pages = {"volumeMounts": [{**mount, "mountPath": "/www", "subPath": "sub"}, {**mount, "mountPath": "/all"}]}
    pod: Object = {
        "metadata": {"name": "both"},
        "spec": {
            "containers": [{"name": "main", "image": "nginx", **pages}, writer],
            "volumes": [{"name": "shared", "emptyDir": {}}],
        },
    }
    await cluster.client.create(places.PODS, pod, namespace="default")
    await cluster.until(places.PODS, lambda items: items.get("default/both", {}).get("status", {}).get("podIP"))

    show = "ls /www; cat /www/*; ls /tmp; rm -r /www; rm -r /all/sub; ls /all"
    output, errors, _ = await _exec(admin, "both", "sh", "-c", show)
    assert (output, errors) == (b"index.html\npage\n", b"rm: can't remove '/www': Resource busy\n")


async def test_a_script_and_its_log_show_what_an_init_container_has_written(
    cluster: clusters.Cluster, admin: aiohttp.ClientSession
) -> None:
    shared = {"volumeMounts": [{"name": "w", "mountPath": "/w"}]}
    first = {"name": "first", "image": "busybox", "command": ["sh", "-c", "echo made > /w/f"], **shared}
    volumes = [{"name": "w", "emptyDir": {}}]

    script = "cat /w/f; echo more >> /w/f; sleep 600"
    await _run(cluster, "reads", "sh", "-c", script, initContainers=[first], volumes=volumes, container=shared)

    async with admin.get(f"{_PODS}/reads/log?container=main") as response:
        assert await response.text() == "made\n"
    assert (await _exec(admin, "reads", "cat", "/w/f"))[0] == b"made\nmore\n"


async def test_claims_and_host_paths_keep_their_files_for_other_pods(cluster: clusters.Cluster) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in ("claimed", "host", "own")]
    sources: Any = ({"persistentVolumeClaim": {"claimName": "c"}}, {"hostPath": {"path": "/srv"}}, {"emptyDir": {}})
    container: Object = {"name": "main", "volumeMounts": mounts}
    volumes = [{"name": mount["name"], **source} for mount, source in zip(mounts, sources, strict=True)]
    trees = VolumeTrees(cluster.client, Memory())

    async def of_pod(uid: str, node: str = "n1") -> list[FileTree]:
        spec = {"containers": [container], "volumes": volumes, "nodeName": node}
        pod: Object = {"metadata": {"namespace": "default", "name": "p", "uid": uid}, "spec": spec}
        return [one.tree for one in await trees.mounted(pod, container)]

    first = await cluster.client.create(
        places.PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "c"}, "spec": claim}, namespace="default"
    )
    claimed, host, own = await of_pod("one")
    assert await of_pod("one") == [claimed, host, own]
    assert [one is before for one, before in zip(await of_pod("two"), (claimed, host, own), strict=True)] == [
        True,
        True,
        False,
    ]
    assert (await of_pod("three", "n2"))[1] is not host
    trees.forget("one")
    await cluster.client.change(places.PERSISTENT_VOLUME_CLAIMS, first, _without_finalizers)
    await cluster.client.delete(places.PERSISTENT_VOLUME_CLAIMS, first)
    again = await of_pod("one")
    assert (again[0] is claimed, again[1] is host, again[2] is own) == (False, True, False)


def _without_finalizers(claim: Object) -> None:
    claim["metadata"]["finalizers"] = []


async def test_a_terminal_echoes_and_has_a_prompt(cluster: clusters.Cluster, admin: aiohttp.ClientSession) -> None:
    await _run(cluster, "shell", "sleep", "1h")

    output, _, status = await _exec(admin, "shell", "sh", stdin=b"echo hx\x7fi\rexit 0\r", tty=True)

    assert output == b"/ # echo hx\b \bi\r\nexit 0\r\nhi\r\n/ # "
    assert status["status"] == "Success"


async def test_a_function_may_stand_for_a_command(cluster: clusters.Cluster, admin: aiohttp.ClientSession) -> None:
    await _run(cluster, "db", "sleep", "1h")
    calls: list[ExecCall] = []

    def psql(call: ExecCall) -> ExecResult | None:
        calls.append(call)
        return ExecResult(stdout="1 row\n", code=2) if call.command[0] == "psql" else None

    cluster.server.parts.simulated.exec(psql)

    output, _, status = await _exec(admin, "db", "psql", "-c", "select 1", stdin=b"in")
    assert (output, status["details"]["causes"][0]["message"]) == (b"1 row\n", "2")
    assert (await _exec(admin, "db", "echo", "other"))[0] == b"other\n"
    assert [(one.pod, one.stdin) for one in calls] == [("db", b"in"), ("db", None)]


async def test_functions_and_known_servers_answer_on_forwarded_ports(
    cluster: clusters.Cluster, admin: aiohttp.ClientSession
) -> None:
    await _run(cluster, "web", image="nginx", container={"command": []})
    cluster.server.parts.simulated.port(8080, bytes.upper)
    received: dict[int, bytes] = {}

    async with admin.ws_connect(
        f"{_PODS}/web/portforward?ports=80,8080,99", protocols=("v4.channel.k8s.io",)
    ) as socket:
        await socket.send_bytes(b"\x00GET / HTTP/1.1\r\n\r\n")
        await socket.send_bytes(b"\x02hello")
        while b"</h1>" not in received.get(0, b"") or len(received.get(2, b"")) < 7 or len(received.get(5, b"")) < 3:
            message = await socket.receive()
            received[message.data[0]] = received.get(message.data[0], b"") + message.data[1:]

    assert received[0].startswith((80).to_bytes(2, "little") + b"HTTP/1.1 200 OK")
    assert received[2] == (8080).to_bytes(2, "little") + b"HELLO"
    assert b"nothing answers on its port 99" in received[5]


async def test_the_kubelet_answers_no_other_client(cluster: clusters.Cluster, admin: aiohttp.ClientSession) -> None:
    items = await cluster.until(places.NODES, lambda items: items and node_objects.kubelet_port(items["node-0"]))
    port = node_objects.kubelet_port(items["node-0"])

    async with admin.get(f"https://127.0.0.1:{port}/containerLogs/default/a/b") as answer:
        assert answer.status == 401

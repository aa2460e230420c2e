"""Pods whose containers run as processes of this machine, over the API server."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from tests.apiserver import serving
from tests.controllers import clusters
from tests.simulation.processes.ends import wait_until_ended

_PODS = "/api/v1/namespaces/default/pods"
_CONTROLLERS = ("serviceaccount-controller", "job-controller")


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[clusters.Cluster]:
    flags = {"simulate": True, "simulate_local_processes": True}
    async with clusters.running(tmp_path, *_CONTROLLERS, **flags) as made:
        await made.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        yield made


@pytest.fixture
async def admin(cluster: clusters.Cluster) -> AsyncIterator[aiohttp.ClientSession]:
    tls = aiohttp.TCPConnector(ssl=serving.as_admin(cluster.server))
    async with aiohttp.ClientSession(cluster.server.url, connector=tls) as session:
        yield session


def _spec(*command: str, policy: str = "Never", **more: Any) -> Object:
    container = {"name": "main", "image": "app", "command": list(command), **more}
    return {"restartPolicy": policy, "containers": [container]}


async def _create(cluster: clusters.Cluster, name: str, spec: Object) -> Object:
    return await cluster.client.create(places.PODS, {"metadata": {"name": name}, "spec": spec}, namespace="default")


def _state(items: dict[str, Object], name: str) -> Any:
    """The state of the container of a pod."""
    status = items.get(f"default/{name}", {}).get("status") or {}
    return (status.get("containerStatuses") or [{}])[0].get("state") or {}


async def _log(admin: aiohttp.ClientSession, name: str, **query: str) -> str:
    async with admin.get(f"{_PODS}/{name}/log", params=query) as answer:
        return await answer.text()


async def test_commands_decide_how_pods_and_jobs_end(
    cluster: clusters.Cluster, admin: aiohttp.ClientSession, tmp_path: Path
) -> None:
    await cluster.client.create(
        places.CONFIG_MAPS, {"metadata": {"name": "m"}, "data": {"WORD": "hello"}}, namespace="default"
    )
    env = [{"name": "WHO", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    tells = _spec("sh", "-c", "echo $WORD $WHO", env=env, envFrom=[{"configMapRef": {"name": "m"}}])
    await _create(cluster, "tells", tells)
    await _create(cluster, "fails", _spec("sh", "-c", "exit 3"))
    await _create(cluster, "missing", _spec("no-such-program"))
    await _create(cluster, "loops", _spec("sh", "-c", "echo again; exit 1", policy="Always"))
    await _create(cluster, "image", _spec(policy="Always"))
    ordered = _spec("cat", str(tmp_path / "made"))
    ordered["initContainers"] = [{"name": "first", "image": "app", "command": ["touch", str(tmp_path / "made")]}]
    await _create(cluster, "ordered", ordered)
    for name, code in (("good", 0), ("bad", 1)):
        job = {"template": {"spec": _spec("sh", "-c", f"exit {code}")}, "backoffLimit": 0}
        await cluster.client.create(places.JOBS, {"metadata": {"name": name}, "spec": job}, namespace="default")

    jobs = await cluster.until(places.JOBS, lambda items: all(map(_has_ended, items.values())))
    pods = await cluster.until(
        places.PODS,
        lambda items: (
            all(_state(items, one).get("terminated") for one in ("tells", "fails", "missing", "ordered"))
            and _state(items, "loops").get("waiting", {}).get("reason") == "CrashLoopBackOff"
            and _state(items, "image").get("running")
        ),
    )

    ends = {one: _state(pods, one)["terminated"] for one in ("tells", "fails", "missing", "ordered")}
    assert {one: (end["exitCode"], end["reason"]) for one, end in ends.items()} == {
        "tells": (0, "Completed"),
        "fails": (3, "Error"),
        "missing": (128, "StartError"),
        "ordered": (0, "Completed"),
    }
    assert [pods[f"default/{one}"]["status"]["phase"] for one in ("tells", "missing")] == ["Succeeded", "Failed"]
    assert {key: one["status"].get("succeeded", 0) for key, one in jobs.items()} == {
        "default/good": 1,
        "default/bad": 0,
    }
    assert await _log(admin, "tells") == "hello tells\n"
    assert await _log(admin, "loops") == await _log(admin, "loops", previous="true") == "again\n"
    assert pods["default/loops"]["status"]["containerStatuses"][0]["restartCount"] == 1
    assert "its program does not run" in await _log(admin, "image")


def _has_ended(job: Object) -> bool:
    kinds = {one["type"] for one in job.get("status", {}).get("conditions") or () if one["status"] == "True"}
    return bool(kinds & {"Complete", "Failed"})


async def test_a_running_command_is_followed_and_ends_with_its_pod(
    cluster: clusters.Cluster, admin: aiohttp.ClientSession
) -> None:
    script = (
        "trap 'echo bye; exit 0' TERM; echo $$; while [ ! -e go ]; do sleep 0.01; done; echo gone; sleep 1000 & wait"
    )
    pod = await _create(cluster, "runs", _spec("sh", "-c", script))
    await cluster.until(places.PODS, lambda items: _state(items, "runs").get("running"))

    async with admin.get(f"{_PODS}/runs/log?follow=true") as answer:
        number = int(await answer.content.readline())
        query = "command=touch&command=go&stdout=1&stderr=1"
        async with admin.ws_connect(f"{_PODS}/runs/exec?{query}", protocols=("v5.channel.k8s.io",)) as socket:
            messages = [message.data async for message in socket]
        second = await answer.content.readline()
        attached = await admin.ws_connect(f"{_PODS}/runs/attach?stdout=1&stderr=1", protocols=("v5.channel.k8s.io",))
        await cluster.client.delete(places.PODS, pod)
        third = await answer.content.readline()
    output = b"".join([message.data[1:] async for message in attached if message.data[0] == 1])
    await cluster.gone(places.PODS, "default/runs")

    assert orjson.loads(messages[-1][1:])["status"] == "Success"
    assert (second, third, output) == (b"gone\n", b"bye\n", b"bye\n")
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


async def test_a_pod_that_is_deleted_without_grace_leaves_no_process(
    cluster: clusters.Cluster, admin: aiohttp.ClientSession
) -> None:
    pod = await _create(cluster, "stays", _spec("sh", "-c", "echo $$; exec sleep 1000", policy="Always"))
    await cluster.until(places.PODS, lambda items: _state(items, "stays").get("running"))
    async with admin.get(f"{_PODS}/stays/log?follow=true") as answer:
        number = int(await answer.content.readline())

        await cluster.client.delete(places.PODS, pod, grace=0)

        await wait_until_ended(number)

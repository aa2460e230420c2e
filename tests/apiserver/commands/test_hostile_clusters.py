"""`apiserver clone` of a cluster that answers as it likes."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from aio_apiserver.apiserver import command
from aio_apiserver.apiserver.commands import cluster_lists

CONFIG_MAPS, SECRETS = "/api/v1/configmaps", "/api/v1/secrets"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DATA = {"password": "c2VjcmV0"}

Answer = Callable[[web.BaseRequest], Any]
Cluster = Mapping[str, Answer]
"""What a cluster answers, by path. It does not serve the others."""


def config_map(name: Any, namespace: Any = "shop", **fields: Any) -> Any:
    return {"metadata": {"name": name, "namespace": namespace}, "data": {"a": "b"}, **fields}


def listed(*items: Any, kind: str = "ConfigMapList", token: str = "") -> Answer:
    return lambda _request: {"kind": kind, "metadata": {"continue": token}, "items": list(items)}


def definition(group: str, plural: str, kind: str = "Thing", **spec: Any) -> Any:
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    whole = {"group": group, "names": names, "scope": "Namespaced", "versions": [version], **spec}
    return {"metadata": {"name": f"{plural}.{group}"}, "spec": whole}


@contextmanager
def serving(cluster: Cluster) -> Iterator[str]:
    """The URL of a cluster, on a loop in a thread of its own."""
    loop, started, ports = asyncio.new_event_loop(), threading.Event(), list[int]()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path not in cluster:
            return web.json_response({"kind": "Status", "message": "not served"}, status=404)
        answer = cluster[request.path](request)
        return web.Response(body=answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    async def serve() -> None:
        server = await loop.create_server(web.Server(handle), "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        started.set()
        ending.append(stop := asyncio.Event())
        await stop.wait()
        server.close()

    ending: list[asyncio.Event] = []
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    started.wait()
    try:
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        loop.call_soon_threadsafe(lambda: ending[0].set())
        thread.join()
        loop.close()


def cloned(cluster: Cluster, directory: Path, *flags: str) -> int:
    """Clone it; returns the exit code."""
    definitions = {DEFINITIONS: listed(kind="CustomResourceDefinitionList"), **cluster}
    with serving(definitions) as url:
        named = {"clusters": [{"name": "c", "cluster": {"server": url}}], "users": []}
        contexts = [{"name": "x", "context": {"cluster": "c"}}]
        config = directory / "config"
        config.write_text(json.dumps({**named, "contexts": contexts, "current-context": "x"}))
        return command.run(["clone", f"--kubeconfig={config}", f"--data-dir={directory / 'copy'}", *flags])


def copied(directory: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str, str]]:
    """The kind, namespace and name of all objects of the copy."""
    capsys.readouterr()
    assert command.run(["inspect", "-o", "json", f"--data-dir={directory / 'copy'}"]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    return [(one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]) for one in items]


@pytest.mark.parametrize(
    "item",
    [
        config_map("../../secrets/default/stolen"),
        config_map(".."),
        config_map("a/b"),
        config_map("a%2fb"),
        config_map(""),
        config_map("x" * 2_000),
        config_map("red\x1b[31m"),
        config_map(None),
        config_map(["a"]),
        config_map("named", "../secrets"),
        config_map("named", ""),
        config_map("named", 7),
        config_map("named", kind="Secret", apiVersion="v1"),
        {"metadata": {"namespace": "shop"}},
        {"metadata": 7},
        {},
        "text",
        None,
    ],
)
def test_an_object_that_is_not_what_was_asked_for_is_left_out(
    item: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cloned({CONFIG_MAPS: listed(item, config_map("good"))}, tmp_path) == 0

    told = capsys.readouterr()
    assert copied(tmp_path, capsys) == [("ConfigMap", "shop", "good")]
    assert "left out: " in told.out
    assert "\x1b" not in told.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config", "copy"]


def test_objects_of_other_namespaces_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = "/api/v1/namespaces/shop/configmaps"

    assert cloned({path: listed(config_map("a"), config_map("b", "kube-system"))}, tmp_path, "-n", "shop") == 0

    assert copied(tmp_path, capsys) == [("ConfigMap", "shop", "a")]


def test_secrets_are_not_copied_unless_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = {"metadata": {"name": "s", "namespace": "shop"}, "data": DATA}
    cluster = {SECRETS: listed(secret, kind="SecretList"), CONFIG_MAPS: listed(secret, kind="SecretList")}

    assert cloned(cluster, tmp_path) == 0

    assert "left out: the cluster sent 'SecretList'" in capsys.readouterr().out
    assert copied(tmp_path, capsys) == []


@pytest.mark.parametrize(
    "wrong",
    [
        definition("secrets", "default"),
        definition("", "secrets"),
        definition("apiregistration.k8s.io", "apiservices", "APIService"),
        definition("rbac.authorization.k8s.io", "clusterroles", "ClusterRole"),
        definition("example.com", "things/../../secrets"),
        definition("example.com/x", "things"),
        {**definition("example.com", "things"), "metadata": {"name": "others.example.com"}},
        definition("example.com", "things", scope="Everywhere"),
        definition("example.com", "things", versions=[]),
        definition("example.com", "things", names=7),
        {"metadata": {"name": "things.example.com"}},
    ],
)
def test_a_definition_cannot_take_the_place_of_other_objects(
    wrong: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = wrong["metadata"]["name"]
    group, plural = (wrong.get("spec") or {}).get("group", ""), name.partition(".")[0]
    item = {"metadata": {"name": "stolen", "namespace": "default"}, "data": DATA}
    cluster = {
        DEFINITIONS: listed(wrong, definition("example.com", "goods"), kind="CustomResourceDefinitionList"),
        f"/apis/{group}/v1/{plural}": listed(item, kind="ThingList"),
        "/apis/example.com/v1/goods": listed(item, kind="ThingList"),
    }

    assert cloned(cluster, tmp_path) == 0

    known = ("CustomResourceDefinition", "", "goods.example.com"), ("Thing", "default", "stolen")
    assert "left out: " in capsys.readouterr().out
    assert sorted(copied(tmp_path, capsys)) == sorted(known)


@pytest.mark.parametrize(
    "metadata", [{"uid": ["a"]}, {"ownerReferences": 7}, {"labels": {"a": 1}}, {"annotations": "x"}]
)
def test_metadata_of_a_custom_resource_has_its_types(
    metadata: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    item = {"metadata": {"name": "odd", "namespace": "shop", **metadata}}
    cluster = {
        DEFINITIONS: listed(definition("example.com", "things"), kind="CustomResourceDefinitionList"),
        "/apis/example.com/v1/things": listed(item, kind="ThingList"),
    }

    assert cloned(cluster, tmp_path) == 0

    assert "left out: " in capsys.readouterr().out
    assert copied(tmp_path, capsys) == [("CustomResourceDefinition", "", "things.example.com")]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda _request: b"no JSON", "the answer is no JSON"),
        (lambda _request: b"[" * 100_000, "the answer is no JSON"),
        (lambda _request: [], "the answer is no list"),
        (listed(token="next"), "a page without objects has a next one"),
        (listed(config_map("a"), token="next"), "the cluster has sent more than 100000 bytes"),
    ],
)
def test_an_answer_that_is_no_list_ends_the_clone(
    answer: Answer, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_lists, "_MOST_BYTES", 100_000)

    assert cloned({CONFIG_MAPS: answer}, tmp_path) == 1

    assert message in capsys.readouterr().err
    assert not (tmp_path / "copy").exists()


def test_a_page_that_is_too_long_is_asked_for_in_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    limits, objects = list[int](), [config_map(str(number), data={"a": "x" * 10_000}) for number in range(12)]
    monkeypatch.setattr(cluster_lists, "_MOST_PAGE_BYTES", 60_000)

    def answer(request: web.BaseRequest) -> Any:
        limit, start = int(request.query["limit"]), int(request.query.get("continue", 0))
        limits.append(limit)
        end = min(start + limit, len(objects))
        metadata = {"continue": str(end)} if end < len(objects) else {}
        return {"kind": "ConfigMapList", "metadata": metadata, "items": objects[start:end]}

    assert cloned({CONFIG_MAPS: answer}, tmp_path) == 0

    assert len(copied(tmp_path, capsys)) == len(objects)
    assert limits[:3] == [500, 50, 5]


def test_an_object_that_is_too_long_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_lists, "_MOST_VALUES", 1_000)
    many = [config_map(str(number)) for number in range(1_000)]

    assert cloned({CONFIG_MAPS: listed(*many)}, tmp_path) == 1

    assert "/api/v1/configmaps?limit=1: the answer has more than 1000 maps and lists" in capsys.readouterr().err


def test_the_message_of_a_cluster_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(_request: web.BaseRequest) -> Any:
        raise web.HTTPForbidden(text=json.dumps({"message": "no\x1b[2J\r\n" + "x" * 100_000}))

    assert cloned({CONFIG_MAPS: refuse}, tmp_path) == 1

    told = capsys.readouterr().err
    assert "/api/v1/configmaps?limit=500: no [2J" in told
    assert "\x1b" not in told
    assert len(told) < 2_000

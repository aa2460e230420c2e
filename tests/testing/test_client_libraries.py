"""Each client library, ready-made and with its own defaults."""

# mypy: allow-untyped-calls

from typing import Any

import kopf
import kubernetes
import kubernetes_asyncio
import lightkube
import pytest
from kr8s.asyncio.objects import ConfigMap as Kr8sMap
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient
from tests.testing.objects import names

MAP: Any = {"metadata": {"name": "one", "namespace": "default"}}


async def test_kubernetes_asyncio(server: Server, client: BlockingClient) -> None:
    async with await server.clients.kubernetes_asyncio() as api:
        await kubernetes_asyncio.client.CoreV1Api(api).create_namespaced_config_map("default", MAP)

    assert names(client) == ["one"]


@pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported:UserWarning")
async def test_kr8s_asyncio(server: Server, client: BlockingClient) -> None:
    api = await server.clients.kr8s_asyncio()

    await (await Kr8sMap(MAP, api=api)).create()

    assert names(client) == ["one"]
    assert api._session is not None
    await api._session.aclose()


def test_lightkube(server: Server, client: BlockingClient) -> None:
    with server.clients.lightkube() as api:
        api.create(ConfigMap(metadata=ObjectMeta(name="one", namespace="default")))

    assert names(client) == ["one"]


async def test_lightkube_asyncio(server: Server, client: BlockingClient) -> None:
    async with server.clients.lightkube_asyncio() as api:
        await api.create(ConfigMap(metadata=ObjectMeta(name="one", namespace="default")))

    assert names(client) == ["one"]


def test_kopf(server: Server) -> None:
    info = server.clients.kopf()

    assert isinstance(info, kopf.ConnectionInfo)
    assert info.server == server.url


def test_the_defaults_of_libraries_find_the_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig))
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(server.kubeconfig))

    with kubernetes.config.new_client_from_config() as api:
        kubernetes.client.CoreV1Api(api).create_namespaced_config_map("default", MAP)
    with lightkube.Client() as other:
        found = list(other.list(ConfigMap))

    assert [one.metadata.name for one in found if one.metadata is not None] == ["one"]

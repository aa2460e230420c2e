"""Objects that tests create."""

from typing import Any

from aio_apiserver.testing.client import BlockingClient

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def make(client: BlockingClient, name: str, **data: str) -> dict[str, Any]:
    return client.request("POST", CONFIG_MAPS, {"metadata": {"name": name}, "data": data})


def names(client: BlockingClient, path: str = CONFIG_MAPS) -> list[str]:
    return [item["metadata"]["name"] for item in client.request("GET", path)["items"]]

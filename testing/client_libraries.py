"""Client libraries: ready clients of Python's Kubernetes libraries, connected to one server as its administrator.

A library is imported when its client is requested. Must hold: environment variables and kubeconfigs of this machine do
not count. The caller closes a client as its library says.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from msgspec import Struct

if TYPE_CHECKING:
    import kr8s.asyncio as kr8s_library
    from kopf import ConnectionInfo
    from kubernetes.client import ApiClient
    from kubernetes_asyncio.client import ApiClient as AsyncApiClient
    from lightkube import AsyncClient, Client
    from pykube import HTTPClient

_PACKAGES = {"pykube": "pykube-ng"}
"""Packages whose name is not that of their module."""


class Clients(Struct, frozen=True):
    """Clients for the server of a kubeconfig file. Each method is named after its library, and returns the library's
    own class.
    """

    kubeconfig: Path

    def kubernetes(self) -> "ApiClient":
        """An ApiClient of the official client."""
        client: ApiClient = _library("kubernetes.config").new_client_from_config(config_file=str(self.kubeconfig))
        return client

    async def kubernetes_asyncio(self) -> "AsyncApiClient":
        """An ApiClient of the official client's asyncio version."""
        client: AsyncApiClient = await _library("kubernetes_asyncio.config").new_client_from_config(
            config_file=str(self.kubeconfig)
        )
        return client

    def kr8s(self) -> "kr8s_library.Api":
        """An Api of kr8s, for code without asyncio."""
        client: kr8s_library.Api = _library("kr8s").api(kubeconfig=str(self.kubeconfig))
        return client

    async def kr8s_asyncio(self) -> "kr8s_library.Api":
        """An Api of kr8s, for asyncio."""
        client: kr8s_library.Api = await _library("kr8s.asyncio").api(kubeconfig=str(self.kubeconfig))
        return client

    def lightkube(self) -> "Client":
        """A Client of lightkube."""
        config = _library("lightkube").KubeConfig.from_file(str(self.kubeconfig))
        client: Client = _library("lightkube").Client(config=config)
        return client

    def lightkube_asyncio(self) -> "AsyncClient":
        """An AsyncClient of lightkube."""
        config = _library("lightkube").KubeConfig.from_file(str(self.kubeconfig))
        client: AsyncClient = _library("lightkube").AsyncClient(config=config)
        return client

    def pykube(self) -> "HTTPClient":
        """An HTTPClient of pykube-ng."""
        pykube = _library("pykube")
        return pykube.HTTPClient(pykube.KubeConfig.from_file(str(self.kubeconfig)))

    def kopf(self) -> "ConnectionInfo":
        """The ConnectionInfo that a handler of kopf's `on.login` returns."""
        config = yaml.safe_load(self.kubeconfig.read_text())
        context = _current(config, "contexts", config["current-context"])["context"]
        cluster = _current(config, "clusters", context["cluster"])["cluster"]
        user = _current(config, "users", context["user"])["user"]
        client: ConnectionInfo = _library("kopf").ConnectionInfo(
            server=cluster["server"],
            ca_data=cluster.get("certificate-authority-data"),
            certificate_data=user.get("client-certificate-data"),
            private_key_data=user.get("client-key-data"),
            token=user.get("token"),
        )
        return client


def _library(module: str) -> Any:
    """Raises ModuleNotFoundError with the command that installs the library."""
    try:
        return import_module(module)
    except ModuleNotFoundError as exc:
        name = module.partition(".")[0]
        if exc.name != name:
            raise
        package = _PACKAGES.get(name, name)
        raise ModuleNotFoundError(f"{name} is not installed: pip install {package}", name=name) from exc


def _current(config: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(entry for entry in config[kind] if entry["name"] == name)
    return found

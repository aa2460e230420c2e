"""Client libraries: ready clients of Python's Kubernetes libraries, connected to one server as its administrator.

A library is imported when its client is requested. Must hold: environment variables and kubeconfigs of this machine do
not count. The caller closes a client as its library says.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct


class Clients(Struct, frozen=True):
    """Clients for the server of a kubeconfig file. Each method is named after its library, and returns the library's
    own class.
    """

    kubeconfig: Path

    def kubernetes(self) -> Any:
        """An ApiClient of the official client."""
        return import_module("kubernetes.config").new_client_from_config(config_file=str(self.kubeconfig))

    async def kubernetes_asyncio(self) -> Any:
        """An ApiClient of the official client's asyncio version."""
        return await import_module("kubernetes_asyncio.config").new_client_from_config(config_file=str(self.kubeconfig))

    def kr8s(self) -> Any:
        """An Api of kr8s, for code without asyncio."""
        return import_module("kr8s").api(kubeconfig=str(self.kubeconfig))

    async def kr8s_asyncio(self) -> Any:
        """An Api of kr8s, for asyncio."""
        return await import_module("kr8s.asyncio").api(kubeconfig=str(self.kubeconfig))

    def lightkube(self) -> Any:
        """A Client of lightkube."""
        config = import_module("lightkube").KubeConfig.from_file(str(self.kubeconfig))
        return import_module("lightkube").Client(config=config)

    def lightkube_asyncio(self) -> Any:
        """An AsyncClient of lightkube."""
        config = import_module("lightkube").KubeConfig.from_file(str(self.kubeconfig))
        return import_module("lightkube").AsyncClient(config=config)

    def pykube(self) -> Any:
        """An HTTPClient of pykube-ng."""
        pykube = import_module("pykube")
        return pykube.HTTPClient(pykube.KubeConfig.from_file(str(self.kubeconfig)))

    def kopf(self) -> Any:
        """The ConnectionInfo that a handler of kopf's `on.login` returns."""
        config = yaml.safe_load(self.kubeconfig.read_text())
        context = _current(config, "contexts", config["current-context"])["context"]
        cluster = _current(config, "clusters", context["cluster"])["cluster"]
        user = _current(config, "users", context["user"])["user"]
        return import_module("kopf").ConnectionInfo(
            server=cluster["server"],
            ca_data=cluster.get("certificate-authority-data"),
            certificate_data=user.get("client-certificate-data"),
            private_key_data=user.get("client-key-data"),
            token=user.get("token"),
        )


def _current(config: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(entry for entry in config[kind] if entry["name"] == name)
    return found

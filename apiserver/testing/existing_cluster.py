"""Existing cluster: runs the tests against an existing cluster instead of a server of their own.

Must hold: a test that needs its own server (faults, snapshots, the record of requests) is skipped with a message.
"""

from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml
from msgspec import Struct


class ExistingCluster(Struct, frozen=True):
    """The cluster of a kubeconfig file's current context."""

    kubeconfig: Path

    @property
    def url(self) -> str:
        config = yaml.safe_load(self.kubeconfig.read_text())
        context = _named(config["contexts"], config["current-context"])["context"]
        url: str = _named(config["clusters"], context["cluster"])["cluster"]["server"]
        return url

    @property
    def clients(self) -> Any:
        """Ready clients of the installed libraries."""
        from aio_apiserver.apiserver.testing.client_libraries import Clients

        return Clients(self.kubeconfig)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"{name} needs a server of the test's own")


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)

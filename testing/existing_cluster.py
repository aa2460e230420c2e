"""Existing cluster: runs the tests against an existing cluster instead of a server of their own.

Must hold: a test that needs its own server (faults, snapshots, the record of requests) is skipped with a message. A
cluster that does not answer ends the run, so that skipped tests do not look like success.
"""

import base64
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml
from msgspec import Struct

_SECONDS = 10


class ExistingCluster(Struct, frozen=True):
    """The cluster of a kubeconfig file's current context."""

    kubeconfig: Path

    @property
    def url(self) -> str:
        url: str = self._cluster["server"]
        return url

    def check(self) -> None:
        """Raise pytest.UsageError when the file is no kubeconfig, or when its cluster does not answer."""
        try:
            request = urllib.request.Request(f"{self.url.rstrip('/')}/version")  # noqa: S310 - the user's cluster
            urllib.request.urlopen(request, timeout=_SECONDS, context=self._tls).close()  # noqa: S310 - see above
        except urllib.error.HTTPError:
            return  # it asks for credentials, so it is there
        except (OSError, ValueError, KeyError, TypeError, StopIteration, yaml.YAMLError) as exc:
            raise pytest.UsageError(f"apiserver_existing: {self.kubeconfig}: no cluster to use: {_why(exc)}") from exc

    @property
    def _cluster(self) -> dict[str, Any]:
        config = yaml.safe_load(self.kubeconfig.read_text())
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster: dict[str, Any] = _named(config["clusters"], context["cluster"])["cluster"]
        return cluster

    @property
    def _tls(self) -> ssl.SSLContext:
        """A context that trusts what the kubeconfig trusts."""
        cluster = self._cluster
        data = cluster.get("certificate-authority-data")
        file = cluster.get("certificate-authority")
        context = ssl.create_default_context(
            cafile=str(self.kubeconfig.parent / file) if file else None,
            cadata=base64.b64decode(data).decode() if data else None,
        )
        if cluster.get("insecure-skip-tls-verify"):
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context

    @property
    def clients(self) -> Any:
        """Ready clients of the installed libraries."""
        from aio_apiserver.testing.client_libraries import Clients

        return Clients(self.kubeconfig)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"{name} needs a server of the test's own")


def _why(exc: Exception) -> str:
    """The reason for a user."""
    if isinstance(exc, yaml.YAMLError | KeyError | TypeError | StopIteration):
        return "the file is no kubeconfig with a current context"
    return str(getattr(exc, "reason", exc))


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)

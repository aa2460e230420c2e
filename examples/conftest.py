"""What the examples share: a server that knows greetings, and a way to make them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apiserver.testing import Server

GREETINGS = "/apis/example.com/v1/namespaces/default/greetings"

Greet = Callable[[str, str], dict[str, Any]]


def pytest_configure(config: pytest.Config) -> None:
    """kopf and kr8s end without waiting until their TLS connections are closed, which Python warns of."""
    config.addinivalue_line("filterwarnings", "ignore:unclosed:ResourceWarning")
    config.addinivalue_line("filterwarnings", "ignore::pytest.PytestUnraisableExceptionWarning")
    config.addinivalue_line("filterwarnings", "ignore:Kubernetes version .* is not supported:UserWarning")


@pytest.fixture(scope="session")
def apiserver_settings() -> dict[str, Any]:
    return {"manifests": [Path(__file__).parent / "manifests"]}


@pytest.fixture
def greet(apiserver: Server) -> Greet:
    """Makes a greeting."""

    def make(name: str, who: str) -> dict[str, Any]:
        greeting = {
            "apiVersion": "example.com/v1",
            "kind": "Greeting",
            "metadata": {"name": name},
            "spec": {"who": who},
        }
        with apiserver.client() as client:
            return client.request("POST", GREETINGS, greeting)

    return make

"""Conftest: a fixture that creates Greetings. pytest.ini names the manifest with their definition."""

from collections.abc import Callable
from typing import Any

import pytest

from aio_apiserver.testing import Server

GREETINGS = "/apis/example.com/v1/namespaces/default/greetings"

Greet = Callable[[str, str], dict[str, Any]]


@pytest.fixture
def greet(apiserver: Server) -> Greet:
    """Returns a function that creates a Greeting."""

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

"""`apiserver bench`: figures of a running server, and nothing left behind."""

import json

import pytest

from aio_apiserver.apiserver import command
from tests.apiserver.commands.conftest import EmbeddedServer


def test_it_measures_and_cleans_up(embedded: EmbeddedServer, capsys: pytest.CaptureFixture[str]) -> None:
    flags = [f"--kubeconfig={embedded.server.kubeconfig}", "--duration=10ms", "--connections=2"]

    assert command.run(["bench", "-o", "json", *flags]) == 0, capsys.readouterr().err

    found = json.loads(capsys.readouterr().out)
    assert [one["operation"] for one in found] == ["create", "get", "patch", "list", "watch"]
    assert all(one["requests"] and one["p50Milliseconds"] <= one["p99Milliseconds"] for one in found)
    with embedded.server.client() as client:
        left = {one["metadata"]["name"] for one in client.request("GET", "/api/v1/namespaces")["items"]}
    assert not [name for name in left if name.startswith("bench-")]


def test_a_server_that_does_not_answer_is_named(free_port: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["bench", "--kubeconfig=/nowhere"]) == 1
    assert "/nowhere: No such file" in capsys.readouterr().err
    assert command.run(["bench", "--duration=0s"]) == 2

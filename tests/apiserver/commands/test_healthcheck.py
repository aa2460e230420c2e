"""The health check of this machine's server: its exit code."""

import pytest

from aio_apiserver.apiserver import command
from aio_apiserver.testing import Server


def test_a_ready_server_is_healthy_on_any_port_and_another_one_is_not(
    free_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server() as server:
        port = server.url.rpartition(":")[2]

        assert command.run(["healthcheck", f"--secure-port={port}"]) == 0
        assert capsys.readouterr().out == "ok\n"
        assert command.run(["healthcheck", f"--secure-port={port}", "--path=/readyz/none"]) == 1
        assert "403" in capsys.readouterr().err

    assert command.run(["healthcheck", f"--secure-port={free_port}"]) == 1
    assert f":{free_port}" in capsys.readouterr().err

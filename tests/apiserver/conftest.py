import socket

import pytest


@pytest.fixture
def free_port() -> int:
    """A free port on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port: int = bound.getsockname()[1]
    return port

"""One server on an embedded store, for all tests of commands that need a running one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from aio_apiserver.testing import Server


class EmbeddedServer(Struct, frozen=True):
    """A running server with a data directory."""

    server: Server
    data_dir: Path

    @property
    def store(self) -> str:
        """The flag that names its store."""
        return f"--data-dir={self.data_dir}"


@pytest.fixture(scope="package")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    directory = tmp_path_factory.mktemp("embedded")
    with Server(data_dir=directory, storage_backend="sqlite") as server:
        yield EmbeddedServer(server, directory)

"""Servers as the recorded one was started."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import program
from tests.golden import replay

_FLAGS = (
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.0.0.0/24",
    f"--token-auth-file={replay.HERE / 'tokens.csv'}",
    "--disable-admission-plugins=ServiceAccount",
)


@contextmanager
def running(directory: Path, *flags: str) -> Iterator[str]:
    """A server's address, while it runs."""
    with program.running(directory, *_FLAGS, *flags) as started:
        yield started.url

"""Which modules speak to the network, as far as import-linter's contracts in pyproject.toml cannot say it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import Source, product
from tests.paths import ROOT

_OUT = "apiserver.outgoing"
_ENDS = frozenset({_OUT, "apiserver.tls", "apiserver.wire"})
_OF_THE_SERVER = frozenset({"HttpVersion11", "hdrs", "payload", "web"})
"""What all of apiserver may have of aiohttp: all other names of it are of the client, or of both."""
_OPENING = frozenset(
    {
        "create_connection",
        "create_server",
        "create_unix_connection",
        "open_connection",
        "open_unix_connection",
        "start_server",
    }
)
_ETCD = "storage.kv.etcd.channel"
"""The connection of etcd's watch stream, which the store reads in batches."""
_OWNER = "storage.kv.unix.connection"
"""The connection of a worker to the process that owns the embedded store: a Unix socket in a private folder."""


def _imported(source: Source, library: str) -> Iterator[str]:
    """The names that a module has of a library; the library's own name when it has the whole."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == library)
        elif isinstance(node, ast.ImportFrom) and node.module == library:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{library}."):
            yield (node.module or "").removeprefix(f"{library}.")


def _called(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "attr", getattr(node.func, "id", ""))


def test_the_client_of_aiohttp_is_known_where_connections_begin() -> None:
    beyond = {
        source.path: names
        for source in product()
        if source.package not in _ENDS
        if (names := sorted(set(_imported(source, "aiohttp")) - _OF_THE_SERVER))
    }

    assert beyond == {}, f"ask through apiserver/outgoing/client.py; these modules know aiohttp's client: {beyond}"


@pytest.mark.parametrize(
    ("name", "owners"),
    [
        ("ClientSession", {"apiserver.outgoing.answer_connections"}),
        ("open_connection", {"apiserver.outgoing.dialer"}),
        ("SSLContext", {"apiserver.tls", "testing", _ETCD}),
        ("create_default_context", {"apiserver.tls", "testing"}),
    ],
)
def test_connections_and_contexts_are_made_in_one_place(name: str, owners: set[str]) -> None:
    makers = {source.name for source in product() if name in _called(source)}

    beyond = {maker for maker in makers if not any(f"{maker}.".startswith(f"{owner}.") for owner in owners)}
    assert beyond == set(), f"{name} is made outside of {sorted(owners)}: {sorted(beyond)}"


def test_sockets_are_opened_where_connections_begin() -> None:
    beyond = {
        source.path: opened
        for source in product()
        if source.package not in _ENDS and source.name not in (_ETCD, _OWNER)
        if (opened := sorted(_OPENING & set(_called(source))))
    }

    assert beyond == {}, f"open connections in apiserver/outgoing, ports in apiserver/wire: {beyond}"


def test_servers_of_tests_end_their_connections() -> None:
    """An asyncio.Server does not. A connection that outlives its loop fails a later test by a warning of Python."""
    folder = ROOT / "tests"
    starting = {path for path in folder.rglob("*.py") if "await asyncio.start_server(" in path.read_text()}

    assert starting - {Path(__file__)} == {folder / "stream_servers.py"}, "serve with tests/stream_servers.py"

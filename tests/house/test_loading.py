"""What is loaded when: by a name of the package, by --version, by a test with a Server, by a server that serves."""

import subprocess
import sys
from collections.abc import Collection

import pytest

_TOLD = "import atexit, sys; atexit.register(lambda: print('loaded', *sys.modules, file=sys.stderr))"
_VERSION = "from aio_apiserver.apiserver import cli; cli.main(['--version'])"
_SERVER = "from aio_apiserver.testing import Server"
_SERVING = """
import asyncio, pathlib, tempfile
from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.config.settings import Settings

async def serve(data_dir):
    chosen = Settings(data_dir=data_dir, storage_backend="memory", bind_address="127.0.0.1", secure_port=0)
    started = await server.start(chosen)
    await started.wait_until_ready()
    await started.stop()

with tempfile.TemporaryDirectory() as folder:
    asyncio.run(serve(pathlib.Path(folder)))
"""
_PROGRAM = "from aio_apiserver.apiserver import command, program"
_SUPERVISOR = "from aio_apiserver.apiserver.workers import supervisor"

_OF_WORKERS = {
    "aio_apiserver.apiserver.workers": "only several --workers need it",
    "aio_apiserver.apiserver.metrics.merging": "only several --workers need it",
    "aio_apiserver.storage.kv.unix": "only several --workers need it",
}
_OPTIONAL = {
    **_OF_WORKERS,
    "aetcd": "only etcd needs it",
    "cel_expr_python": "only objects with expressions need it",
    "google.protobuf": "only clients of protobuf and CEL need it",
    "grpc": "only etcd and KMS plugins need it",
    "jwt": "only tokens of service accounts and issuers need it",
    "kubernetes": "only tests with that client need it",
    "nacl": "only encrypted stores need it",
    "prometheus_client": "only a question for the metrics needs it",
    "opentelemetry": "only --tracing-config-file needs it",
    "rich": "only a terminal needs it",
    "aio_apiserver.controllers.manager": "only --controllers and --simulate need it",
    "aio_apiserver.registry.machinery.cel.environment": "only objects with expressions need it",
    "aio_apiserver.registry.groups.apiextensions.validation.definition_validation": "only custom resources need it",
    "aio_apiserver.storage.kv.etcd": "only a server on etcd needs it",
}
_OF_ETCD_AND_TERMINALS = {name: _OPTIONAL[name] for name in ("aetcd", "grpc", "kubernetes", "nacl", "rich")}
_OF_SERVING = {
    "aiohttp": "only a server needs HTTP",
    "yaml": "only files and bodies in YAML need it",
    "aio_apiserver.apiserver.app": "only a server needs it",
    "aio_apiserver.storage.kv.memory": "only a server has a store",
    "aio_apiserver.storage.kv.sqlite": "only a server has a store",
}
_HEAVY = dict.fromkeys(
    ("asyncio", "cryptography", "msgspec", "pydantic", "ssl", "aio_apiserver.apiserver.config.settings"),
    "the supervisor of --workers stays small",
)
_OF_TESTS = {
    "aio_apiserver.apiserver.console": "only a server with --ui has a console",
    "aio_apiserver.registry.generic.admission.traced_calls": "only a server with --ui shows decisions of admission",
    "aio_apiserver.testing.bench": "only a server with --testing has a bench",
    "aio_apiserver.testing": "only tests need it",
    "pytest": "only tests need it",
}


def _loaded(code: str) -> Collection[str]:
    """The modules of a process, all its warnings being errors."""
    command = [sys.executable, "-W", "error", "-c", f"{_TOLD}\n{code}"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr.splitlines()[-1]
    return told.split()[1:]


def test_the_package_itself_loads_nothing() -> None:
    names = _loaded("import aio_apiserver")

    assert [name for name in names if name.startswith("aio_apiserver")] == ["aio_apiserver"]
    assert "asyncio" not in names


@pytest.mark.parametrize(
    ("code", "needless"),
    [
        (_VERSION, {**_OPTIONAL, **_OF_SERVING, **_OF_TESTS}),
        (_PROGRAM, {**_OPTIONAL, **_OF_TESTS}),
        (_SERVING, {**_OF_ETCD_AND_TERMINALS, **_OF_TESTS, **_OF_WORKERS}),
        (_SERVER, _OPTIONAL),
        (_SUPERVISOR, {**_HEAVY, **_OF_SERVING, **_OF_TESTS}),
    ],
    ids=["--version", "the program", "a server that has become ready", "a Server in a test", "the supervisor"],
)
def test_nothing_is_loaded_that_is_not_needed_yet(code: str, needless: dict[str, str]) -> None:
    names = set(_loaded(code))

    assert {name: why for name, why in needless.items() if name in names} == {}

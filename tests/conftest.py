"""What holds for all tests: examples are the same each time, slow machines fail none, temporary files go in the end."""

import gc
import importlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import fast_tier
from tests.loop_watch import LoopWatch
from tests.storage.kv import etcd_server
from tests.watchdog import Watchdog

settings.register_profile("same-everywhere", derandomize=True, deadline=None)
settings.load_profile("same-everywhere")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="run the tests that start no process")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests beyond the fast tier, and say so in pytest's summary."""
    if config.getoption("--fast"):
        config.hook.pytest_deselected(items=[item for item in items if not fast_tier.is_fast(item)])
        items[:] = [item for item in items if fast_tier.is_fast(item)]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(LoopWatch(Watchdog()))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exempt what the tests have imported from garbage collection, which would stop their servers for over a second.

    So is what a server imports with its first pod: pytest takes twice as long for it, in the event loop of a test.
    """
    importlib.import_module("aio_apiserver.registry.groups.core.pods.validation.templates")
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Files that clients leave behind (kubernetes.config writes each certificate to one) lie in pytest's own folder.

    So do those of the programs that tests start.
    """
    folder = str(tmp_path_factory.mktemp("temporary"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", folder)
        patch.setenv("TMPDIR", folder)
        yield


_ETCDS = etcd_server.binaries()


@pytest.fixture(scope="module", params=_ETCDS.values(), ids=list(_ETCDS))
def etcd_binary(request: pytest.FixtureRequest) -> Path:
    """Each etcd that the suites of the storage run on."""
    binary: Path = request.param
    return binary

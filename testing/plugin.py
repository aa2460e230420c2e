"""Plugin: the pytest plugin: one server for the session, reset for each test.

    def test_a_pod(apiserver):       # a Server, as it was at the start; KUBECONFIG names it
        api = apiserver.clients.kubernetes()

`pytest --help` lists the options under "apiserver"; the configuration file has the same names. Every worker of
pytest-xdist has a server of its own. Must hold: a run without these fixtures loads nothing and starts nothing.
"""

import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from aio_apiserver.testing.bench.recorded_request import RecordedRequest
    from aio_apiserver.testing.existing_cluster import ExistingCluster
    from aio_apiserver.testing.server import Server

_GROUP = "apiserver"
_MANIFESTS = "Manifests that the server holds from the start of each test: files or folders."
_FLAGS = "Flags of the server, without their dashes: name=value."
_VERSIONS = "The minors of Kubernetes for which tests run, once for each: 1.35, or 1.34,1.35,1.36."
_UPDATE = "Write the golden recordings that tests compare with, instead of comparing."
_EXISTING = "Use the cluster of this kubeconfig file instead: nothing is started, and nothing is put back."
_REPORT = "Write an HTML report of each failing test to this folder: timeline, objects, log."
_REPORT_ALL = "Write a report of each test that uses the server, also when it passes."
_SEEN: pytest.StashKey[tuple["Server", int]] = pytest.StashKey()
_READ_ONCE = ("kubernetes.config.kube_config", "kubernetes_asyncio.config.kube_config")
"""Modules that read KUBECONFIG when they are imported, and would then use the developer's own cluster."""
Golden = Callable[..., None]
_OF_PODS = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
"""The variables by which a client in a pod finds its cluster. Tests run in pods, too."""
_TITLE = "Requests to the API server"
_SHOWN = 200
_ALL = "--apiserver-report-all"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup(_GROUP)
    group.addoption("--apiserver-manifests", action="append", default=[], metavar="PATH", help=_MANIFESTS)
    group.addoption("--apiserver-flags", action="append", default=[], metavar="NAME=VALUE", help=_FLAGS)
    group.addoption("--kubernetes-version", default="", metavar="MINOR[,MINOR...]", help=_VERSIONS)
    group.addoption("--apiserver-existing", metavar="KUBECONFIG", help=_EXISTING)
    group.addoption("--apiserver-report", metavar="DIR", help=_REPORT)
    group.addoption(_ALL, action="store_true", help=_REPORT_ALL)
    group.addoption("--apiserver-update-golden", action="store_true", help=_UPDATE)
    parser.addini("apiserver_manifests", _MANIFESTS, type="paths", default=[])
    parser.addini("apiserver_flags", _FLAGS, type="linelist", default=[])
    parser.addini("apiserver_existing", _EXISTING, type="string", default="")
    parser.addini("kubernetes_version", _VERSIONS, type="string", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of the plugin. Raises pytest.UsageError for options that make no sense.

    With pytest-xdist, the process that starts the workers looks at all of them: a worker cannot end the run.
    """
    config.addinivalue_line("markers", "kubernetes_versions(*minors): run the test once for each minor of Kubernetes.")
    folder = config.getoption("--apiserver-report")
    if folder and Path(folder).exists() and not Path(folder).is_dir():
        raise pytest.UsageError(f"--apiserver-report: {folder} is no folder")
    if config.getoption(_ALL) and not folder:
        raise pytest.UsageError(f"{_ALL} needs --apiserver-report=DIR")
    if config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        if existing := _existing(config):
            _check_cluster(existing)
        else:
            _check_server(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses the server once for each minor of its marker, or else of --kubernetes-version."""
    if "kubernetes_version" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("kubernetes_versions")
    versions = marker.args if marker is not None else _versions(metafunc.config)
    if versions:
        metafunc.parametrize("kubernetes_version", versions, indirect=True, scope="session")


@pytest.fixture(scope="session")
def kubernetes_version(request: pytest.FixtureRequest) -> str:
    """The minor of the session's server; empty when neither a marker nor an option names one."""
    version: str = getattr(request, "param", "")
    return version


@pytest.fixture(scope="session")
def apiserver_settings(pytestconfig: pytest.Config) -> dict[str, Any]:
    """The arguments of the session's Server. A conftest.py may override this fixture."""
    try:
        return _check_server(pytestconfig)
    except pytest.UsageError as exc:
        pytest.exit(str(exc), returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.fixture(scope="session")
def apiserver_session(
    pytestconfig: pytest.Config, apiserver_settings: dict[str, Any], kubernetes_version: str
) -> "Iterator[Server | ExistingCluster]":
    """The server of the session, one for each minor. A test finds what earlier tests have left."""
    if existing := _existing(pytestconfig):
        try:
            cluster = _check_cluster(existing)
        except pytest.UsageError as exc:
            pytest.exit(str(exc), returncode=pytest.ExitCode.USAGE_ERROR)
        yield cluster
        return
    from aio_apiserver.testing.server import Server

    settings = {**apiserver_settings, **({"kubernetes_version": kubernetes_version} if kubernetes_version else {})}
    if pytestconfig.getoption("--apiserver-report"):
        settings["ui"] = True  # it records what reports show
    with Server(**settings) as server:
        yield server


@pytest.fixture
def apiserver(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, apiserver_session: "Server | ExistingCluster"
) -> "Server | ExistingCluster":
    """The server of the session, reset to its start. KUBECONFIG names it during the test."""
    from aio_apiserver.testing.existing_cluster import ExistingCluster

    if not isinstance(apiserver_session, ExistingCluster):
        apiserver_session.reset()
        request.node.stash[_SEEN] = (apiserver_session, apiserver_session.requests.count)
    monkeypatch.setenv("KUBECONFIG", str(apiserver_session.kubeconfig))
    for name in _OF_PODS:
        monkeypatch.delenv(name, raising=False)
    for name in _READ_ONCE:
        if name in sys.modules:
            monkeypatch.setattr(f"{name}.KUBE_CONFIG_DEFAULT_LOCATION", str(apiserver_session.kubeconfig))
    return apiserver_session


@pytest.fixture
def apiserver_golden(request: pytest.FixtureRequest, apiserver: "Server | ExistingCluster") -> Golden:
    """Compares the requests of a test with a recording, in golden/ beside the test's file.

    Call it with a name if a test has several recordings, and with requests to compare others than all writes.
    """
    from aio_apiserver.testing import golden

    def compare(
        name: str = "", *, requests: "Iterable[RecordedRequest] | None" = None, replace: Mapping[str, str] | None = None
    ) -> None:
        node = re.sub(r"[^\w.]+", "-", f"{request.node.name} {name}").strip("-")
        path = request.path.parent / "golden" / request.path.stem / f"{node}.yaml"
        made = apiserver.requests.matching(verb=golden.WRITES) if requests is None else requests
        golden.check(path, made, update=request.config.getoption("--apiserver-update-golden"), replace=replace)

    return compare


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Show requests as lines in a failing comparison."""
    found = sys.modules.get("aio_apiserver.testing.bench.request_list")
    lines: list[str] | None = found.explain(left, right) if found is not None and op == "==" else None
    return lines


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the requests to the report of a failing test."""
    report = yield
    server, since = item.stash.get(_SEEN, (None, 0))
    if server is not None and report.failed:
        seen = server.requests.matching(since=since)[-_SHOWN:]
        report.sections.append((f"{_TITLE} ({report.when})", "\n".join(map(str, seen))))
    if server is not None and (report.failed or (report.when == "call" and item.config.getoption(_ALL))):
        _write_report(item, report, server)
    return report


def _write_report(item: pytest.Item, report: pytest.TestReport, server: "Server") -> None:
    """Write the file of one test into the folder of --apiserver-report."""
    folder = item.config.getoption("--apiserver-report")
    if not folder:
        return
    name = re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")
    path = Path(folder) / f"{name}.html"
    failure = [("Failure", report.longreprtext)] if report.failed else []
    texts = [(title, text) for title, text in report.sections if not title.startswith(_TITLE)]
    server.report(path, title=f"{item.nodeid}: {report.outcome}", texts=[*failure, *texts])
    report.sections.append(("Report", str(path)))


def _existing(config: pytest.Config) -> str:
    """The kubeconfig of the cluster that tests use instead of a server of their own."""
    existing: str = config.getoption("--apiserver-existing") or config.getini("apiserver_existing")
    return existing


def _check_cluster(kubeconfig: str) -> "ExistingCluster":
    """The existing cluster. Raises pytest.UsageError when it cannot be used."""
    from aio_apiserver.testing.existing_cluster import ExistingCluster

    cluster = ExistingCluster(Path(kubeconfig))
    cluster.check()
    return cluster


def _check_server(config: pytest.Config) -> dict[str, Any]:
    """The arguments of Server that options and the configuration file give. Raises pytest.UsageError."""
    _check_versions(_versions(config))
    manifests = [*config.getini("apiserver_manifests"), *map(Path, config.getoption("--apiserver-manifests"))]
    for path in manifests:
        if not path.exists():
            raise pytest.UsageError(f"apiserver_manifests: {path}: there is no such file or folder")
    flags = [*config.getini("apiserver_flags"), *config.getoption("--apiserver-flags")]
    return {**_settings(flags), "manifests": manifests}


def _versions(config: pytest.Config) -> list[str]:
    given = config.getoption("--kubernetes-version") or config.getini("kubernetes_version")
    return [one.strip() for one in given.split(",") if one.strip()]


def _check_versions(versions: list[str]) -> None:
    """Raises pytest.UsageError for a minor that the server cannot be."""
    if not versions:
        return
    from aio_apiserver.registry.base import minors

    for version in versions:
        try:
            minors.parse(version)
        except ValueError as exc:
            raise pytest.UsageError(f"kubernetes_version: {exc}") from None


def _settings(flags: list[str]) -> dict[str, Any]:
    """Settings from flags, as the command line reads them. Raises pytest.UsageError."""
    if not flags:
        return {}
    from aio_apiserver.apiserver.config import command_line
    from aio_apiserver.apiserver.config.flag_grammar import UsageError, parse

    try:
        parsed = parse([f"--{flag}" for flag in flags], command_line.flags(), {})
        return command_line.settings_of(parsed).model_dump(exclude_unset=True)
    except UsageError as exc:
        raise pytest.UsageError(f"apiserver_flags: {exc}") from None

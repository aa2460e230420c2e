import fnmatch
from importlib.metadata import entry_points

import pytest

from aio_apiserver.testing import Server

IS_INSTALLED = bool(entry_points(group="pytest11", name="apiserver"))
PLUGIN = () if IS_INSTALLED else ("-p", "aio_apiserver.testing.plugin")
OBJECT = """
apiVersion: v1
kind: ConfigMap
metadata: {name: given}
"""

USING = """
def test_reaches_it(apiserver):
    assert apiserver.url == "URL"

def test_needs_its_own(apiserver):
    apiserver.fault("conflict")
"""

pytest_plugins = ["pytester"]


def run(pytester: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(test)
    return pytester.runpytest_subprocess(*PLUGIN, "-p", "no:cacheprovider", *options)


def test_each_test_meets_the_state_of_the_start(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    (pytester.path / "given.yaml").write_text(OBJECT)
    pytester.makeini("[pytest]\napiserver_manifests = given.yaml\napiserver_flags = authorization-mode=AlwaysAllow")

    result = run(
        pytester,
        """
        import os, pytest

        MAPS = "/api/v1/namespaces/default/configmaps"

        @pytest.mark.parametrize("number", range(4))
        def test_alone(apiserver, number):
            assert apiserver.url in open(os.environ["KUBECONFIG"]).read()
            assert "KUBERNETES_SERVICE_HOST" not in os.environ
            with apiserver.client() as client:
                found = [one["metadata"]["name"] for one in client.request("GET", MAPS)["items"]]
                assert found == ["given"]
                client.request("POST", MAPS, {"metadata": {"name": "mine"}})
        """,
        "-n2",
    )

    result.assert_outcomes(passed=4)


def test_a_failure_shows_what_was_asked_of_the_server(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        def test_fails(apiserver):
            with apiserver.client() as client, apiserver.fault("latency", delay=0.01):
                client.request("GET", "/api/v1/pods")
            assert False
        """,
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Requests to the API server (call)*", "*200 GET /api/v1/pods*latency*"])


COMPARING = """
MAPS = "/api/v1/namespaces/default/configmaps"

def test_compares(apiserver, apiserver_golden):
    with apiserver.client() as client:
        client.request("POST", MAPS, {"metadata": {"name": "web", "uid": ""}, "data": {"colour": "blue"}})
    apiserver_golden("first")
    assert apiserver.requests.matching() == ["create configmaps default/RESULT"]
"""


def test_requests_that_differ_are_shown_as_lines(pytester: pytest.Pytester) -> None:
    result = run(pytester, COMPARING.replace("RESULT", "other"), "--apiserver-update-golden")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*1 made, 1 expected*", "*+ create configmaps default/web", "*- create configmaps default/other"]
    )
    (path,) = (pytester.path / "golden").rglob("*.yaml")
    assert "colour: blue" in path.read_text()


def test_a_run_is_compared_with_its_recording(pytester: pytest.Pytester) -> None:
    name = "test_a_run_is_compared_with_its_recording"
    path = pytester.path / "golden" / name / "test_compares-first.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("[]")

    result = run(pytester, COMPARING)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*requests differ from their recording:", "*+- request: create configmaps default/web"]
    )


def test_a_cluster_that_is_there_takes_the_place_of_the_server(pytester: pytest.Pytester) -> None:
    with Server() as server:
        result = run(pytester, USING.replace("URL", server.url), f"--apiserver-existing={server.kubeconfig}")

    result.assert_outcomes(passed=1, skipped=1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "*No such file or directory*"),
        ("kind: Config", "*no cluster to use: the file is no kubeconfig with a current context*"),
        ("a text", "*no cluster to use: the file is no kubeconfig with a current context*"),
        (
            "current-context: a\n"
            "contexts: [{name: a, context: {cluster: b, user: c}}]\n"
            "clusters: [{name: b, cluster: {server: 'https://127.0.0.1:1'}}]\n",
            "*Connection refused*",
        ),
    ],
    ids=["no file", "no kubeconfig", "a text", "no server"],
)
def test_a_run_ends_when_the_existing_cluster_cannot_be_used(
    pytester: pytest.Pytester, text: str | None, why: str
) -> None:
    kubeconfig = pytester.path / "existing.kubeconfig"
    if text is not None:
        kubeconfig.write_text(text)

    result = run(pytester, USING, f"--apiserver-existing={kubeconfig}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*apiserver_existing: *existing.kubeconfig: no cluster to use: *"])
    result.stdout.fnmatch_lines([why])


WRONG = pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--apiserver-flags=colour=blue", "*apiserver_flags: unknown flag: --colour*"),
        ("--apiserver-manifests=there", "*apiserver_manifests: *there: there is no such file or folder*"),
        ("--apiserver-existing=there", "*apiserver_existing: there: no cluster to use: *No such file*"),
        ("--kubernetes-version=1.36,1.20", "*kubernetes_version: this server cannot be Kubernetes*1.20*1.36*"),
        ("--apiserver-report=test_it.txt", "*--apiserver-report: test_it.txt is no folder*"),
        ("--apiserver-report-all", "*--apiserver-report-all needs --apiserver-report=DIR*"),
    ],
)


@WRONG
def test_a_run_ends_with_one_message_for_wrong_options(pytester: pytest.Pytester, option: str, told: str) -> None:
    pytester.maketxtfile(test_it="")

    result = run(pytester, USING, option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert fnmatch.filter([*result.outlines, *result.errlines], told)


@WRONG
def test_a_run_with_workers_ends_with_the_same_message(pytester: pytest.Pytester, option: str, told: str) -> None:
    pytester.maketxtfile(test_it="")

    result = run(pytester, USING, option, "--numprocesses=1")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert fnmatch.filter([*result.outlines, *result.errlines], told)
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


def test_a_run_that_uses_no_server_loads_none(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import sys

        def test_nothing():
            assert "aio_apiserver.apiserver.server" not in sys.modules
            assert "aiohttp" not in sys.modules
        """,
    )

    result.assert_outcomes(passed=1)

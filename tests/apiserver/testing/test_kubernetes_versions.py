"""The pytest plugin with several minors of Kubernetes."""

import pytest

from tests.apiserver.testing.test_plugin import run

TEST = """
import pytest

def test_by_option(apiserver, kubernetes_version):
    with apiserver.client() as client:
        assert client.request("GET", "/version")["minor"] == kubernetes_version.removeprefix("1.")

@pytest.mark.kubernetes_versions("1.37")
def test_by_marker(apiserver):
    with apiserver.client() as client:
        assert client.request("GET", "/version")["minor"] == "37"
"""

pytest_plugins = ["pytester"]


def test_a_test_runs_once_for_each_minor(pytester: pytest.Pytester) -> None:
    result = run(pytester, TEST, "--kubernetes-version=1.35,1.37", "-v")

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*test_by_option?1.35? PASSED*", "*test_by_option?1.37? PASSED*"])

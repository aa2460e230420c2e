"""The pytest plugin with several minors of Kubernetes."""

import pytest

from tests.testing.test_plugin import run

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


def test_the_configuration_file_names_the_minors(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nkubernetes_version = 1.34")

    result = run(pytester, TEST, "-v", "-k", "option")

    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*test_by_option?1.34? PASSED*"])


def test_an_unknown_minor_of_a_marker_is_an_error_that_names_the_known_ones(pytester: pytest.Pytester) -> None:
    test = """
import pytest

@pytest.mark.kubernetes_versions("1.20")
def test_old(apiserver): ...
"""

    result = run(pytester, test)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*this server cannot be Kubernetes*1.20*1.36*"])

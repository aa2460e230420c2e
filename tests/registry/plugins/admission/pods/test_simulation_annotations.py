"""Warnings about the annotations of a simulated cluster."""

from pathlib import Path

import pytest

from aio_apiserver.registry.plugins.simulation import annotations as simulation
from aio_apiserver.testing import Server
from tests.paths import ROOT

PREFIX = "simulate.aio-apiserver/"


def test_the_page_is_that_of_the_table() -> None:
    page = Path(ROOT / "docs" / "annotations.md").read_text()

    assert page == simulation.page(), (
        "python -m aio_apiserver.registry.plugins.simulation.annotations > docs/annotations.md"
    )


@pytest.mark.parametrize(
    ("name", "value", "warning"),
    [
        ("phase", "Running", ""),
        ("delay", "1m30s", ""),
        ("exit-code", "255", ""),
        ("files", '{"/a": "b"}', ""),
        ("phase", "Crashing", 'ignores "Crashing", allowed: Running, Succeeded, Failed, CrashLoopBackOff'),
        ("delay", "5 seconds", 'ignores "5 seconds", allowed: a duration such as 3s or 1m30s'),
        ("stop", "-1s", 'ignores "-1s"'),
        ("exit-code", "256", "allowed: a number from 0 to 255"),
        pytest.param("exit-code", "1" * 5000, "allowed: a number from 0 to 255", id="an exit code of 5,000 digits"),
        ("files", "[]", "allowed: a JSON map of paths and texts"),
        ("phases", "Running", f"no such annotation, did you mean {PREFIX}phase?"),
    ],
)
def test_values_are_checked(name: str, value: str, warning: str) -> None:
    found = list(simulation.warnings(simulation.ANNOTATIONS["", "pods"], {PREFIX + name: value}, "metadata"))

    assert len(found) == bool(warning)
    assert warning in "".join(found)


def test_clients_are_warned_once_and_nothing_is_refused() -> None:
    wrong = {"annotations": {f"{PREFIX}phase": "Crashing"}, "labels": {"a": "b"}}
    spec = {"containers": [{"name": "a", "image": "b"}]}
    workload = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": wrong, "spec": spec}}
    pods, deployments = "/api/v1/namespaces/default/pods", "/apis/apps/v1/namespaces/default/deployments"
    with Server(simulate=True) as server, server.client() as client:
        pod = client.exchange("POST", pods, {"metadata": {"name": "p", **wrong}, "spec": spec})
        deployment = client.exchange("POST", deployments, {"metadata": {"name": "d"}, "spec": workload})
        label = client.exchange(
            "PATCH", f"{pods}/p", {"metadata": {"labels": {"c": "d"}}}, content_type="application/merge-patch+json"
        )

    assert (pod.status, deployment.status, label.status) == (201, 201, 200)
    assert [one.partition(":")[0] for one in pod.warnings] == [f"metadata.annotations[{PREFIX}phase]"]
    assert deployment.warnings[0].startswith(f"spec.template.metadata.annotations[{PREFIX}phase]")
    assert not label.warnings

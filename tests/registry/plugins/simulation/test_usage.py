"""The CPU and memory of simulated containers."""

from typing import Any

import pytest

from aio_apiserver.registry.plugins.simulation import usage
from aio_apiserver.registry.plugins.simulation.annotations import USAGE

_BIG = {"name": "big", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
_SMALL = {"name": "small"}
_SIDECAR = {"name": "sidecar", "restartPolicy": "Always"}
_SETUP = {"name": "setup"}


def _shown(stated: str, *containers: Any, **spec: Any) -> Any:
    pod = {"metadata": {"annotations": {USAGE: stated}}, "spec": {"containers": list(containers), **spec}}
    return {name: dict(usage.printed(one)) for name, one in usage.of_pod(pod)}


def test_a_container_uses_half_of_its_requests() -> None:
    assert _shown("", _BIG, _SMALL) == {
        "big": {"cpu": "500m", "memory": "512Mi"},
        "small": {"cpu": "10m", "memory": "16Mi"},
    }


def test_containers_use_equal_parts_of_the_stated_amounts() -> None:
    half = {"cpu": "150m", "memory": "32Mi"}

    assert _shown("cpu=300m, memory=64Mi", _BIG, _SMALL) == {"big": half, "small": half}


def test_the_usual_amount_counts_for_what_is_not_stated() -> None:
    assert _shown("cpu=2", _BIG) == {"big": {"cpu": "2", "memory": "512Mi"}}


def test_sidecars_run_and_other_init_containers_do_not() -> None:
    assert set(_shown("", _SMALL, initContainers=[_SETUP, _SIDECAR])) == {"small", "sidecar"}


@pytest.mark.parametrize("wrong", ["cpu", "cpu=", "cpu=-1", "cpu=many", "disk=1", "cpu=1,,memory=1"])
def test_wrong_amounts_do_not_count(wrong: str) -> None:
    assert _shown(wrong, _SMALL) == _shown("", _SMALL)

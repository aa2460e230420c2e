"""Feature gates: each is asked about through the minor, and the flag wins over the minor's default."""

import ast
from collections.abc import Iterator

import pytest

from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.controlplane import gates_in_use
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.apps.statefulsets import STATEFULSETS
from aio_apiserver.registry.groups.coordination.leases import LEASES
from aio_apiserver.registry.groups.core.pods.pods import PODS
from tests.house.sources import product


def _gates_of_calls() -> Iterator[str]:
    """The gates in calls such as `minor.is_open("ComponentFlagz")`."""
    for source in product():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("is_open", "is_closed"):
                yield from (str(gate.value) for gate in node.args if isinstance(gate, ast.Constant))


def test_the_gates_of_assembly_are_those_that_code_asks_about() -> None:
    assert set(_gates_of_calls()) == gates_in_use.OF_ASSEMBLY


def test_every_gate_in_use_is_known_to_a_minor() -> None:
    minors = [Minor(version) for version in ((1, 33), (1, 34), (1, 35), (1, 36), (1, 37))]

    unknown = {name for name in gates_in_use.names() if not any(minor.gates.is_known(name) for minor in minors)}

    assert unknown == set()


@pytest.mark.parametrize(
    ("kind", "path", "gate"),
    [
        (PODS, "spec.containers[].lifecycle?stopSignal", "ContainerStopSignals"),
        (LEASES, "spec.preferredHolder", "CoordinatedLeaderElection"),
    ],
)
def test_a_flag_opens_the_fields_of_a_gate(kind: Kind, path: str, gate: str) -> None:
    assert path in kind.at(Minor()).closed
    assert path not in kind.at(Minor(feature_gates=(f"{gate}=true",))).closed


def test_a_flag_closes_a_gate_that_the_minor_has_open() -> None:
    closed = STATEFULSETS.at(Minor((1, 37), ("MaxUnavailableStatefulSet=false",)))

    assert "spec.updateStrategy.rollingUpdate.maxUnavailable" in closed.closed
    assert closed.decorate is None
    assert STATEFULSETS.at(Minor((1, 37))).decorate is not None


def test_an_emulated_version_has_the_gates_of_its_time() -> None:
    assert Minor((1, 37)).is_open("MaxUnavailableStatefulSet")
    assert not Minor((1, 37), emulated=(1, 36)).is_open("MaxUnavailableStatefulSet")


def test_gates_without_an_effect_are_named() -> None:
    minor = Minor(feature_gates=("ContainerStopSignals=true", "WatchList=false", "ComponentFlagz=false"))

    assert gates_in_use.without_effect(minor) == ["WatchList"]

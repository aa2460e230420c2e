"""What is true of every controller of pods, however odd: it is refused with reasons, or accepted for good."""

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.apps.provider import PROVIDER as APPS
from aio_apiserver.registry.groups.batch.provider import PROVIDER as BATCH
from aio_apiserver.registry.groups.core.pods.podtemplates import PODTEMPLATES
from aio_apiserver.registry.groups.core.pods.replicationcontrollers import REPLICATIONCONTROLLERS
from aio_apiserver.registry.machinery.schema import DecodeError
from tests.registry.defaulted import CONTEXT, canonical, created, updated

KINDS = {kind.kind: kind for kind in (*APPS.kinds, *BATCH.kinds, PODTEMPLATES, REPLICATIONCONTROLLERS)}
MANIFESTS = Path(__file__).parents[1] / "manifests"

ODD_TEXTS = ("", "x", "Bad_", "a.b/c", "100%", "1Gi", "-1", "TZ=x", "Never", "0-3,2", "é", "x" * 300)
ODD_NUMBERS = (0, -1, 1, 100_001, 2**31 - 1)

Place = tuple[str | int, ...]


@cache
def workloads() -> list[dict[str, Any]]:
    documents = [
        document for path in sorted(MANIFESTS.glob("*.yaml")) for document in yaml.safe_load_all(path.read_text())
    ]
    return [document for document in documents if document["kind"] in KINDS]


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield (*place, name)
        yield from places(member, (*place, name))


@st.composite
def odd_workloads(draw: st.DrawFn) -> dict[str, Any]:
    """A manifest in which up to three things are missing or something else."""
    workload: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(workloads())))
    for _ in range(draw(st.integers(1, 3))):
        candidates = [place for place in places(workload) if place[0] not in {"apiVersion", "kind"}]
        *parents, last = draw(st.sampled_from(candidates))
        owner: Any = workload
        for name in parents:
            owner = owner[name]
        if draw(st.booleans()):
            del owner[last]
        else:
            owner[last] = draw(_instead_of(owner[last]))
        if not workload.keys() - {"apiVersion", "kind"}:
            break
    return workload


def _instead_of(value: Any) -> st.SearchStrategy[Any]:
    """Another value of the same type."""
    if isinstance(value, bool):
        return st.just(not value)
    if isinstance(value, int):
        return st.sampled_from(ODD_NUMBERS)
    if isinstance(value, str):
        return st.sampled_from(ODD_TEXTS)
    return st.sampled_from((None, [], value * 2) if isinstance(value, list) else (None, {}))


@given(odd_workloads())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_odd_workload_is_refused_with_reasons_or_accepted_for_good(workload: dict[str, Any]) -> None:
    kind = KINDS[workload["kind"]]
    value = {name: member for name, member in workload.items() if name not in {"apiVersion", "kind"}}
    try:
        new = stored(kind, value)
    except DecodeError:
        return

    errors = kind.strategy.validate_again(CONTEXT, new)
    warnings = kind.strategy.warnings_on_create(CONTEXT, new) if not errors else []

    assert all(error.path and error.body for error in errors)
    assert all(isinstance(warning, str) for warning in warnings)
    if not errors:
        again = updated(kind, new, copy.deepcopy(new))
        assert kind.strategy.validate_update(CONTEXT, again, new) == []
        assert again["metadata"].get("generation") == new["metadata"].get("generation")


def stored(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    """The object that a creation stores, in a namespace and with a name."""
    metadata = {**(value.get("metadata") or {}), "name": "a", "namespace": "default"}
    new = created(kind, {**value, "metadata": metadata})
    kind.strategy.canonicalize(new)
    return canonical(kind, new)


@pytest.mark.parametrize("workload", workloads(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_what_tutorials_have_is_right(workload: dict[str, Any]) -> None:
    kind = KINDS[workload["kind"]]

    assert kind.strategy.validate(CONTEXT, stored(kind, {**workload})) == []

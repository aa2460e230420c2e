"""`apiserver versions`: what each minor of Kubernetes changes."""

import pytest

from aio_apiserver.apiserver.commands import versions
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.registry.base import minors


@pytest.fixture(scope="module")
def changes() -> dict[str, frozenset[str]]:
    before, after = (versions.facts_of(minors.parse(name)) for name in ("1.35", "1.36"))
    return dict(versions.changes(before, after))


def test_it_lists_what_a_minor_serves_for_the_first_time(changes: dict[str, frozenset[str]]) -> None:
    assert "mutatingadmissionpolicies.admissionregistration.k8s.io/v1" in changes["new resources"]


def test_it_lists_new_fields_of_types_that_were_there(changes: dict[str, frozenset[str]]) -> None:
    assert changes["new fields"]
    assert not any("MutatingAdmissionPolicySpec" in one for one in changes["new fields"])


def test_it_lists_feature_gates_that_a_minor_opens(changes: dict[str, frozenset[str]]) -> None:
    assert "MutatingAdmissionPolicy" in changes["opened feature gates"] | changes["removed feature gates"]


def test_an_unknown_minor_is_refused() -> None:
    with pytest.raises(UsageError, match=r"unknown minor 1\.12; the minors are 1\.33, "):
        versions.run(["1.12"])

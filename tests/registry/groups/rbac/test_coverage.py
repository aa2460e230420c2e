from typing import Any

import pytest

from aio_apiserver.registry.groups.rbac import coverage
from aio_apiserver.registry.groups.rbac.policy_rules import compiled

READ_PODS = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}
EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}


@pytest.mark.parametrize(
    ("held", "granted"),
    [
        ([READ_PODS], [{**READ_PODS, "verbs": ["get"]}]),
        ([READ_PODS], [{**READ_PODS, "resourceNames": ["a"]}]),
        ([EVERYTHING], [READ_PODS, EVERYTHING]),
        ([{**EVERYTHING, "resources": ["*/scale"]}], [{**EVERYTHING, "resources": ["deployments/scale"]}]),
        ([{"verbs": ["get"], "nonResourceURLs": ["/a/*"]}], [{"verbs": ["get"], "nonResourceURLs": ["/a/b", "/a/*"]}]),
        ([READ_PODS], [{"verbs": [], "apiGroups": [""], "resources": ["nodes"]}]),
    ],
)
def test_rights_that_are_held_are_not_missing(held: list[dict[str, Any]], granted: list[dict[str, Any]]) -> None:
    assert coverage.missing(compiled(held), granted) == []


@pytest.mark.parametrize(
    ("held", "granted"),
    [
        ([], READ_PODS),
        ([{**READ_PODS, "resourceNames": ["a"]}], READ_PODS),
        ([{**READ_PODS, "verbs": ["get", "list", "watch"]}], {**READ_PODS, "verbs": ["*"]}),
        ([{**EVERYTHING, "resources": ["pods/*"]}], {**EVERYTHING, "resources": ["pods/log"]}),
        ([{"verbs": ["get"], "nonResourceURLs": ["/a"]}], {"verbs": ["get"], "nonResourceURLs": ["/a/*"]}),
        ([EVERYTHING], {"verbs": ["get"], "nonResourceURLs": ["/a"]}),
    ],
)
def test_rights_that_no_single_rule_holds_are_missing(held: list[dict[str, Any]], granted: dict[str, Any]) -> None:
    assert coverage.missing(compiled(held), [granted])


def test_missing_rights_are_described_by_resource() -> None:
    granted = [{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "nodes"]}]

    described = coverage.described(coverage.missing([], granted))

    assert described == [
        '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
    ]


def test_rules_that_combine_to_too_many_rights_are_refused() -> None:
    many = [str(n) for n in range(200)]

    with pytest.raises(coverage.TooManyRights):
        coverage.missing([], [{"verbs": many, "apiGroups": many, "resources": many, "resourceNames": many}])

"""Tests the errors of invalid workloads, in their order."""

from typing import Any

import pytest

from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.apps import statefulsets
from aio_apiserver.registry.groups.apps.daemonsets import DAEMONSETS
from aio_apiserver.registry.groups.apps.deployments import DEPLOYMENTS
from aio_apiserver.registry.groups.apps.replicasets import REPLICASETS
from tests.registry.defaulted import CONTEXT, created, updated

STATEFULSETS = statefulsets.STATEFULSETS.at(Minor())

MISMATCH = "`selector` does not match template `labels`"


def workload(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
    return {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template, **spec}}


def errors_of(kind: Kind, value: dict[str, Any]) -> list[str]:
    return [str(one) for one in kind.strategy.validate(CONTEXT, created(kind, value))]


@pytest.mark.parametrize("kind", [DEPLOYMENTS, REPLICASETS, STATEFULSETS, DAEMONSETS], ids=lambda kind: kind.plural)
@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "a"}},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
        {"matchExpressions": [{"key": "app", "operator": "Exists"}, {"key": "b", "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["b"]}]},
    ],
)
def test_a_selector_that_selects_the_template_is_accepted(kind: Kind, selector: dict[str, Any]) -> None:
    new = created(kind, workload(selector=selector))

    assert kind.strategy.validate(CONTEXT, new) == []
    assert kind.strategy.validate_update(CONTEXT, updated(kind, new, workload(selector=selector)), new) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"replicas": -1}, ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"]),
        (
            {"selector": None},
            [
                "spec.selector: Required value",
                f'spec.template.metadata.labels: Invalid value: {{"app":"a"}}: {MISMATCH}',
            ],
        ),
        ({"selector": {}}, ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]),
        (
            {"selector": {"matchLabels": {"app": "z"}}},
            [f'spec.template.metadata.labels: Invalid value: {{"app":"a"}}: {MISMATCH}'],
        ),
        (
            {"selector": {"matchExpressions": [{"key": "app", "operator": "In"}]}},
            [
                "spec.selector.matchExpressions[0].values: Required value: "
                "must be specified when `operator` is 'In' or 'NotIn'",
                'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"In"}]}: '
                "invalid label selector",
            ],
        ),
        (
            {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
            ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
        ),
        (
            {"minReadySeconds": 600},
            ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"],
        ),
    ],
)
def test_deployments_refuse(spec: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(DEPLOYMENTS, workload(**spec)) == expected


@pytest.mark.parametrize("kind", [DEPLOYMENTS, REPLICASETS, DAEMONSETS], ids=lambda kind: kind.plural)
def test_a_selector_is_immutable(kind: Kind) -> None:
    old = created(kind, workload())
    new = updated(kind, old, workload(selector={"matchExpressions": [{"key": "app", "operator": "Exists"}]}))

    (error,) = kind.strategy.validate_update(CONTEXT, new, old)

    assert (error.path, error.detail) == ("spec.selector", "field is immutable")


def test_stateful_sets_change_little() -> None:
    old = created(STATEFULSETS, workload())

    refused = STATEFULSETS.strategy.validate_update(
        CONTEXT, updated(STATEFULSETS, old, workload(serviceName="other")), old
    )
    accepted = STATEFULSETS.strategy.validate_update(CONTEXT, updated(STATEFULSETS, old, workload(replicas=3)), old)

    assert [error.path for error in refused] == ["spec"]
    assert accepted == []


def test_templates_of_controllers_always_restart() -> None:
    template = workload()["spec"]["template"]
    template["spec"] |= {"restartPolicy": "Never", "activeDeadlineSeconds": 5}

    assert errors_of(REPLICASETS, workload(template=template)) == [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
    ]


def test_names_that_are_no_dns_labels_get_warnings() -> None:
    new = created(DEPLOYMENTS, {"metadata": {"name": "a.b"}, **workload()})

    assert DEPLOYMENTS.strategy.warnings_on_create(CONTEXT, new) == [
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
        "a DNS label is recommended: [must not contain dots]"
    ]

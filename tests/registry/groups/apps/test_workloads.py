"""Tests Deployments, ReplicaSets, StatefulSets and DaemonSets: defaults and generation."""

from typing import Any

import pytest

from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.groups.apps import statefulsets
from aio_apiserver.registry.groups.apps.daemonsets import DAEMONSETS
from aio_apiserver.registry.groups.apps.deployments import DEPLOYMENTS
from aio_apiserver.registry.groups.apps.replicasets import REPLICASETS
from aio_apiserver.registry.machinery.schema import DecodeError
from tests.registry.defaulted import CONTEXT, created, defaulted, updated

STATEFULSETS = statefulsets.STATEFULSETS.at(Minor())

COUNT = "deprecated.daemonset.template.generation"


def workload(image: str = "nginx", **spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}, **spec}}


def defaults_of(obj: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in obj["spec"].items() if name != "template"}


def test_deployments_roll_a_quarter_at_a_time() -> None:
    assert defaults_of(defaulted(DEPLOYMENTS, workload())) == {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
    }


def test_zero_is_no_default() -> None:
    assert defaulted(DEPLOYMENTS, workload(replicas=0))["spec"]["replicas"] == 0


def test_deployments_that_recreate_have_no_steps() -> None:
    assert defaulted(DEPLOYMENTS, workload(strategy={"type": "Recreate"}))["spec"]["strategy"] == {"type": "Recreate"}


def test_annotations_of_a_deployment_count_for_its_generation() -> None:
    old = created(DEPLOYMENTS, workload())

    same = updated(DEPLOYMENTS, old, workload())
    annotated = updated(DEPLOYMENTS, old, {"metadata": {"name": "a", "annotations": {"a": "b"}}, **workload()})
    labelled = updated(DEPLOYMENTS, old, {"metadata": {"name": "a", "labels": {"a": "b"}}, **workload()})

    assert [one["metadata"]["generation"] for one in (same, annotated, labelled)] == [1, 2, 1]


def test_a_status_update_of_a_deployment_keeps_labels_and_rollback() -> None:
    assert DEPLOYMENTS.status_strategy is not None
    kept = {"labels": {"a": "b"}, "annotations": {"deprecated.deployment.rollback.to": "1"}}
    old = created(DEPLOYMENTS, {"metadata": {"name": "a", **kept}, **workload()})
    new: dict[str, Any] = {"metadata": {"labels": {"x": "y"}}, "spec": {}, "status": {"replicas": 1}}

    DEPLOYMENTS.status_strategy.prepare_for_update(CONTEXT, new, old)

    assert new == {"metadata": kept, "spec": old["spec"], "status": {"replicas": 1}}


def test_replica_sets_have_one_replica() -> None:
    assert defaults_of(defaulted(REPLICASETS, workload())) == {"replicas": 1}


def test_stateful_sets_retain_their_claims() -> None:
    claim = {"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"]}}

    assert defaults_of(defaulted(STATEFULSETS, workload(volumeClaimTemplates=[claim]))) == {
        "podManagementPolicy": "OrderedReady",
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        "volumeClaimTemplates": [
            {
                "kind": "PersistentVolumeClaim",
                "apiVersion": "v1",
                "metadata": {"name": "d"},
                "spec": {"accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem"},
                "status": {"phase": "Pending"},
            }
        ],
    }


def test_stateful_sets_drop_fields_of_disabled_features() -> None:
    steps = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}

    new = created(STATEFULSETS, workload(updateStrategy=steps))

    assert new["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0}


def test_daemon_sets_replace_one_pod_at_a_time() -> None:
    assert defaults_of(defaulted(DAEMONSETS, workload())) == {
        "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
    }


def test_daemon_sets_count_the_changes_of_their_template() -> None:
    old = created(DAEMONSETS, workload())

    same = updated(DAEMONSETS, old, {"metadata": {"name": "a", "annotations": {COUNT: "9"}}, **workload()})
    changed = updated(DAEMONSETS, old, workload("nginx:1"))
    other = updated(DAEMONSETS, old, workload(minReadySeconds=5))

    counts = [
        (one["metadata"]["annotations"][COUNT], one["metadata"]["generation"]) for one in (old, same, changed, other)
    ]
    assert counts == [("1", 1), ("1", 1), ("2", 2), ("1", 2)]


def test_an_invalid_template_generation_is_refused() -> None:
    with pytest.raises(DecodeError, match='parsing "x": invalid syntax'):
        defaulted(DAEMONSETS, {"metadata": {"annotations": {COUNT: "x"}}})


def test_a_rollback_annotation_is_an_integer() -> None:
    rollback = "deprecated.deployment.rollback.to"

    new = defaulted(DEPLOYMENTS, {"metadata": {"annotations": {rollback: "+5"}}})

    assert new["metadata"]["annotations"] == {rollback: "5"}
    with pytest.raises(DecodeError, match="failed to parse annotation"):
        defaulted(DEPLOYMENTS, {"metadata": {"annotations": {rollback: "last"}}})


def test_stateful_sets_of_a_newer_minor_have_a_limit_of_unavailable_pods() -> None:
    newer = statefulsets.STATEFULSETS.at(Minor((1, 37)))

    new = created(newer, workload(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {}}))

    assert new["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0, "maxUnavailable": 1}

"""Tests pods: defaults, first status, generation and graceful deletion."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.groups.core.pods.pods import PODS
from tests.registry.defaulted import CONTEXT, created, defaulted, updated


def pod(**spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c", "image": "nginx"}], **spec}}


def test_a_small_pod_gets_all_defaults() -> None:
    spec = defaulted(PODS, pod())["spec"]

    assert spec == {
        "containers": [
            {
                "name": "c",
                "image": "nginx",
                "imagePullPolicy": "Always",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def test_defaults_are_complete_after_one_pass() -> None:
    once = defaulted(PODS, pod(hostNetwork=True, serviceAccountName="sa", volumes=[{"name": "v"}]))

    assert defaulted(PODS, once) == once


def test_a_pod_without_spec_survives_its_defaults() -> None:
    assert defaulted(PODS, {})["spec"]["restartPolicy"] == "Always"


def test_volumes_without_source_are_empty_directories() -> None:
    volumes = [
        {"name": "a"},
        {"name": "b", "secret": {"secretName": "s"}},
        {"name": "c", "image": {"reference": "i:1"}},
    ]

    assert defaulted(PODS, pod(volumes=volumes))["spec"]["volumes"] == [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "secret": {"secretName": "s", "defaultMode": 0o644}},
        {"name": "c", "image": {"reference": "i:1", "pullPolicy": "IfNotPresent"}},
    ]


def test_on_the_host_network_host_ports_equal_container_ports() -> None:
    containers = [{"name": "c", "ports": [{"containerPort": 80}]}]

    (container,) = defaulted(PODS, pod(containers=containers, hostNetwork=True))["spec"]["containers"]

    assert container["ports"] == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]


def test_both_fields_for_the_service_account_name_are_equal() -> None:
    spec = defaulted(PODS, pod(serviceAccount="sa"))["spec"]

    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("sa", "sa")


def test_a_new_pod_is_pending_whatever_the_client_sends() -> None:
    new = created(PODS, {**pod(), "status": {"phase": "Running", "podIP": "10.0.0.1"}})

    assert new["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert new["metadata"]["generation"] == 1


def test_a_new_pod_keeps_the_qos_class_of_the_request() -> None:
    new = created(PODS, {**pod(), "status": {"qosClass": "Burstable"}})

    assert new["status"]["qosClass"] == "Burstable"


def test_a_new_pod_with_gates_has_the_condition_scheduling_gated() -> None:
    new = created(PODS, pod(schedulingGates=[{"name": "g"}]))

    (condition,) = new["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("PodScheduled", "False", "SchedulingGated")
    assert condition["lastTransitionTime"] == "2030-01-01T00:00:00Z"


def test_label_keys_become_expressions() -> None:
    constraint = {"maxSkew": 1, "labelSelector": {}, "matchLabelKeys": ["app", "none"]}

    new = created(
        PODS, {"metadata": {"name": "a", "labels": {"app": "x"}}, **pod(topologySpreadConstraints=[constraint])}
    )

    (kept,) = new["spec"]["topologySpreadConstraints"]
    assert kept["labelSelector"] == {"matchExpressions": [{"key": "app", "operator": "In", "values": ["x"]}]}


def test_generation_grows_with_the_spec_alone() -> None:
    old = created(PODS, pod())

    labelled = updated(PODS, old, {**pod(), "metadata": {"name": "a", "labels": {"a": "b"}}})
    changed = updated(PODS, old, pod(activeDeadlineSeconds=5))

    assert labelled["metadata"]["generation"] == 1
    assert changed["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("asked", "node", "phase", "expected"),
    [
        (None, "n", "Running", 30),
        (5, "n", "Running", 5),
        (0, "n", "Running", 0),
        (None, "", "Pending", 0),
        (None, "n", "Succeeded", 0),
        (None, "n", "Failed", 0),
    ],
)
def test_a_pod_that_cannot_run_is_deleted_without_grace(
    asked: int | None, node: str, phase: str, expected: int
) -> None:
    obj = {**defaulted(PODS, pod(nodeName=node)), "status": {"phase": phase}}

    assert PODS.strategy.check_graceful_delete(obj, DeleteOptions(grace_period_seconds=asked)) == expected


def test_a_status_update_keeps_values_that_the_kubelet_leaves_out() -> None:
    assert PODS.status_strategy is not None
    owners = [{"kind": "ReplicaSet", "name": "r", "uid": "u", "apiVersion": "apps/v1"}]
    conditions = [{"type": "Ready", "status": "False", "observedGeneration": 3}]
    old = created(PODS, pod())
    old["metadata"]["ownerReferences"] = owners
    old["status"] |= {"conditions": conditions, "observedGeneration": 3}
    new = {
        "metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"},
        "spec": {},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }

    PODS.status_strategy.prepare_for_update(CONTEXT, new, old)

    assert new == {
        "metadata": {"ownerReferences": owners},
        "spec": old["spec"],
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "observedGeneration": 3}],
            "qosClass": "BestEffort",
            "observedGeneration": 3,
        },
    }

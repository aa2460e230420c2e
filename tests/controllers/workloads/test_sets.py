from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.workloads import daemon_set_pods as daemon_sets
from aio_apiserver.controllers.workloads import revisions
from aio_apiserver.controllers.workloads import stateful_set_pods as stateful_sets
from tests.controllers.making import CLOCK, obj, pod, workload


def _db(replicas: int, **spec: Any) -> Object:
    return workload("db", replicas, serviceName="db", **spec)


def _member(number: int, revision: str = "now", *, ready: bool = True) -> Object:
    return pod(f"db-{number}", ready=ready, labels={revisions.LABEL: revision})


def _situation(
    owner: Object, *pods: Object, current: str = "now", update: str = "now"
) -> stateful_sets.StatefulSetSituation:
    return stateful_sets.StatefulSetSituation(owner, pods, current, update, CLOCK)


def _names(pods: list[Object]) -> list[str]:
    return [one["metadata"]["name"] for one in pods]


def test_a_set_of_two_billion_pods_makes_some_of_them_at_once() -> None:
    owner = _db(2**31 - 1, podManagementPolicy="Parallel")
    first = _situation(owner, _member(1), _member(3)).plan(3)
    others = _situation(owner, _member(0), _member(1), current="old")

    assert list(first.make) == [0, 2, 4]
    assert list(others.plan(2).make) == [2, 3]
    assert [pod["metadata"]["name"] for pod in others.reached()] == ["db-0", "db-1"]


def test_a_stateful_set_makes_one_pod_after_the_other() -> None:
    assert _situation(_db(3)).plan(500).make == {0: "now"}
    assert _situation(_db(3), _member(0, ready=False)).plan(500).make == {}
    assert _situation(_db(3), _member(0)).plan(500).make == {1: "now"}


def test_a_parallel_stateful_set_makes_all_pods_at_once() -> None:
    assert list(_situation(_db(3, podManagementPolicy="Parallel")).plan(500).make) == [0, 1, 2]


def test_a_stateful_set_shrinks_from_the_last_pod_on() -> None:
    plan = _situation(_db(1), _member(0), _member(1), _member(2)).plan(500)

    assert _names(plan.delete) == ["db-2"]


def test_an_update_begins_with_the_last_pod_and_stops_at_the_partition() -> None:
    owner = _db(3, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    old = [_member(number, "old") for number in range(3)]

    first = _situation(owner, *old, current="old").plan(500)
    last = _situation(owner, old[0], _member(1), _member(2), current="old").plan(500)

    assert _names(first.delete) == ["db-2"]
    assert (last.delete, last.make) == ([], {})


def test_an_update_waits_for_pods_that_do_not_work() -> None:
    old = [_member(0, "old"), _member(1, "old", ready=False)]

    assert _situation(_db(2), *old, current="old").plan(500).delete == []


def test_a_finished_update_is_the_present_state() -> None:
    status = _situation(_db(2), _member(0), _member(1), current="old").status()

    assert (status["currentRevision"], status["updatedReplicas"], status["readyReplicas"]) == ("now", 2, 2)


def test_a_pod_of_a_stateful_set_has_a_name_and_volumes_of_its_own() -> None:
    owner = _db(1, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {}}])
    revision = revisions.make(owner, (), "apps/v1", "StatefulSet")

    made = stateful_sets.pod_of(owner, 4, revision)

    assert (made["metadata"]["name"], made["spec"]["hostname"], made["spec"]["subdomain"]) == ("db-4", "db-4", "db")
    assert made["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-4"}}]
    assert list(stateful_sets.claims(owner, 4)) == ["data"]


def test_revisions_are_found_by_their_template() -> None:
    owner = _db(1)
    made = revisions.make(owner, (), "apps/v1", "StatefulSet")

    assert revisions.find(owner, [made]) is made
    assert revisions.find(workload("db", 1, image="other"), [made]) is None
    assert revisions.template_of(made) == owner["spec"]["template"]


def _agent(**rolling: object) -> Object:
    return workload("agent", 0, updateStrategy={"type": "RollingUpdate", "rollingUpdate": rolling})


def _on(node: str, revision: str = "now", *, name: str = "", ready: bool = True) -> Object:
    return pod(name or f"agent-{node}", node=node, ready=ready, labels={revisions.LABEL: revision})


def _daemons(owner: Object, pods: dict[str, list[Object]], *nodes: str) -> daemon_sets.DaemonSetSituation:
    return daemon_sets.DaemonSetSituation(owner, pods, frozenset(nodes), "now", CLOCK)


def test_a_daemon_set_has_a_pod_on_each_node_and_nowhere_else() -> None:
    plan = _daemons(_agent(), {"a": [_on("a")], "gone": [_on("gone")]}, "a", "b").plan()

    assert plan.make == ["b"]
    assert _names(plan.delete) == ["agent-gone"]


def test_a_daemon_set_is_updated_node_by_node() -> None:
    pods = {"a": [_on("a", "old")], "b": [_on("b", "old")]}

    assert _names(_daemons(_agent(maxUnavailable=1), pods, "a", "b").plan().delete) == ["agent-a"]
    assert _daemons(_agent(maxUnavailable=1), {**pods, "a": []}, "a", "b").plan().delete == []


def test_a_surge_puts_the_new_pod_beside_the_old_one() -> None:
    owner, old, new = _agent(maxSurge=1, maxUnavailable=0), _on("a", "old"), _on("a", name="new")

    assert _daemons(owner, {"a": [old]}, "a").plan().make == ["a"]
    assert _names(_daemons(owner, {"a": [old, new]}, "a").plan().delete) == ["agent-a"]


def test_the_pod_of_a_daemon_set_is_for_one_node() -> None:
    made = daemon_sets.pod_of(_agent(), "a", "now")

    assert daemon_sets.node_of(made) == "a"
    assert {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"} in (
        made["spec"]["tolerations"]
    )


def test_daemon_sets_heed_taints_and_labels() -> None:
    owner = _agent()
    owner["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    node = {**obj("a", namespace="", labels={"disk": "ssd"}), "spec": {}}

    assert daemon_sets.wants(owner, node)
    assert not daemon_sets.wants(owner, {**node, "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})
    assert not daemon_sets.wants(owner, {**obj("b", namespace=""), "spec": {}})


def test_a_daemon_set_counts_what_is_scheduled() -> None:
    status = _daemons(_agent(), {"a": [_on("a")], "x": [_on("x")]}, "a", "b").status()

    assert (status["desiredNumberScheduled"], status["currentNumberScheduled"]) == (2, 1)
    assert (status["numberMisscheduled"], status["numberUnavailable"]) == (1, 1)

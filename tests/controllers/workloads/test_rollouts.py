from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.workloads import rollouts
from aio_apiserver.controllers.workloads.rollout_status import RolloutProgress
from tests.controllers.making import CLOCK, NOW, workload


def _rolling(replicas: int, surge: object = "25%", unavailable: object = "25%") -> Object:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    return workload("web", replicas, strategy={"type": "RollingUpdate", "rollingUpdate": rolling})


def _set(name: str, replicas: int, *, available: int | None = None, image: str = "nginx") -> Object:
    made = workload(name, replicas, image=image)
    number = replicas if available is None else available
    made["status"] = {
        "replicas": replicas,
        "readyReplicas": number,
        "availableReplicas": number,
        "observedGeneration": 1,
    }
    return made


def _progress(deployment: Object, new: Object | None, *old: Object) -> RolloutProgress:
    return RolloutProgress(deployment, new, old, CLOCK, NOW)


def test_the_new_replica_set_begins_with_the_surge() -> None:
    deployment, old = _rolling(10), _set("old", 10)

    assert rollouts.make_new(deployment, [old])["spec"]["replicas"] == 3


def test_old_pods_go_as_new_ones_become_available() -> None:
    deployment = _rolling(4, surge=1, unavailable=0)

    assert rollouts.roll(deployment, _set("new", 1, available=0), [_set("old", 4)]) == {}
    assert rollouts.roll(deployment, _set("new", 1), [_set("old", 4)]) == {"old": 3}
    assert rollouts.roll(deployment, _set("new", 1), [_set("old", 3)]) == {"new": 2}


def test_old_pods_that_do_not_work_go_first() -> None:
    deployment = _rolling(4, surge=0, unavailable=1)
    old = [_set("a", 2), _set("b", 2, available=1)]

    assert rollouts.roll(deployment, _set("new", 0), old) == {"b": 1}


def test_a_change_of_size_reaches_all_active_replica_sets() -> None:
    deployment = _rolling(20)
    deployment["status"] = {"replicas": 10}
    sizes = rollouts.rescale(deployment, _set("new", 5, available=3), [_set("old", 5)])

    assert sum(sizes.values()) == 25
    assert sizes["new"] >= 12


def test_a_single_active_replica_set_gets_the_whole_size() -> None:
    assert rollouts.rescale(_rolling(7), _set("new", 3), [_set("old", 0)]) == {"new": 7}


def test_the_template_finds_its_replica_set_whatever_its_hash() -> None:
    deployment = _rolling(1)
    new, other = rollouts.make_new(deployment, []), _set("other", 0, image="nginx:2")
    new["metadata"]["creationTimestamp"] = NOW

    assert rollouts.find_new(deployment, [other, new]) is new
    assert rollouts.find_new(deployment, [other]) is None


def test_a_rollback_keeps_the_revisions_that_a_replica_set_had() -> None:
    deployment, new = _rolling(1), _set("new", 1)

    assert rollouts.mark_new(deployment, new, 1)
    assert not rollouts.mark_new(deployment, new, 1)
    assert rollouts.mark_new(deployment, new, 3)
    assert new["metadata"]["annotations"] == {rollouts.REVISION: "3", rollouts.HISTORY: "1"}


def test_only_the_history_that_is_wanted_is_kept() -> None:
    deployment = _rolling(1)
    deployment["spec"]["revisionHistoryLimit"] = 1
    old = [_set("a", 0), _set("b", 0), _set("busy", 1)]
    for number, one in enumerate(old):
        rollouts.mark_new(deployment, one, number + 1)

    assert [one["metadata"]["name"] for one in rollouts.superfluous(deployment, old)] == ["a"]


def test_a_replica_set_whose_scaling_is_not_reported_yet_is_kept() -> None:
    deployment, old = _rolling(1), _set("old", 0)
    deployment["spec"]["revisionHistoryLimit"] = 0
    old["metadata"]["generation"] = 2

    assert rollouts.superfluous(deployment, [old]) == []


def test_a_finished_rollout_says_so() -> None:
    deployment = _rolling(2)
    deployment["spec"]["progressDeadlineSeconds"] = 600

    status = _progress(deployment, _set("new", 2)).status(is_observing=True)

    told = {one["type"]: (one["status"], one["reason"]) for one in status["conditions"]}
    assert told == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }
    assert (status["replicas"], status["updatedReplicas"], status["availableReplicas"]) == (2, 2, 2)


def test_a_rollout_that_does_not_move_is_late_in_the_end() -> None:
    deployment = _rolling(2)
    deployment["spec"]["progressDeadlineSeconds"] = 30
    since = "2026-01-01T00:00:00Z"
    condition = {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "lastUpdateTime": since}
    deployment["status"] = {"replicas": 2, "updatedReplicas": 2, "conditions": [condition]}

    status = _progress(deployment, _set("new", 2, available=0)).status(is_observing=True)

    late = next(one for one in status["conditions"] if one["type"] == "Progressing")
    assert (late["status"], late["reason"]) == ("False", "ProgressDeadlineExceeded")

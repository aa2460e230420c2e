"""Which replicas are deleted first."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods
from aio_apiserver.controllers.workloads import replicas
from tests.controllers.making import BEFORE, NOW, pod

_COST = "controller.kubernetes.io/pod-deletion-cost"


def _restarted(name: str, regular: int, sidecar: int = 0) -> Object:
    made = pod(name, node="a")
    made["spec"]["initContainers"] = [{"name": "s", "restartPolicy": "Always"}]
    made["status"]["containerStatuses"] = [{"name": "a", "restartCount": regular}]
    made["status"]["initContainerStatuses"] = [{"name": "s", "restartCount": sidecar}]
    return made


def _names(found: list[Object]) -> list[str]:
    return [one["metadata"]["name"] for one in replicas.surplus(found, found, len(found))]


def test_a_pod_beside_other_related_pods_goes_before_a_younger_one() -> None:
    alone, beside = pod("alone", node="a", creationTimestamp=NOW), pod("beside", node="b")

    assert replicas.surplus([alone, beside], [alone, beside], 1) == [alone]
    assert replicas.surplus([alone, beside], [alone, beside, pod("other", node="b")], 1) == [beside]


def test_ended_pods_do_not_count_as_beside() -> None:
    alone, beside = pod("alone", node="a", creationTimestamp=NOW), pod("beside", node="b")
    ended = pod("other", node="b", deletionTimestamp=BEFORE)

    assert replicas.surplus([alone, beside], [alone, beside, ended], 1) == [alone]


def test_often_restarted_pods_go_first_and_then_those_with_restarted_sidecars() -> None:
    assert _names([_restarted("a", 1), _restarted("b", 2), _restarted("c", 1, 3)]) == ["b", "c", "a"]


def test_the_deletion_cost_counts_for_replicas_and_not_for_jobs() -> None:
    dear, cheap = pod("a", annotations={_COST: "5"}), pod("b", annotations={_COST: "-5"})

    assert _names([dear, cheap]) == ["b", "a"]
    assert pods.deletion_rank(cheap)[:-1] == pods.deletion_rank(dear)[:-1]

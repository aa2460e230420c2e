import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.nodes import pod_garbage


def pod(name: str, *, phase: str = "Failed", reason: str = "", created: str = "2026-01-01T00:00:00Z") -> Object:
    return {
        "metadata": {"name": name, "creationTimestamp": created},
        "spec": {},
        "status": {"phase": phase, "reason": reason},
    }


def test_evicted_pods_go_first_and_then_the_oldest() -> None:
    finished = [
        pod("young", created="2026-01-03T00:00:00Z"),
        pod("old"),
        pod("evicted", reason="Evicted", created="2026-01-02T00:00:00Z"),
    ]

    assert [one["metadata"]["name"] for one in pod_garbage.superfluous(finished, 1)] == ["evicted", "old"]
    assert list(pod_garbage.superfluous(finished, 3)) == []


@pytest.mark.parametrize(
    ("is_ending", "on_node", "taints", "is_stuck"),
    [
        (True, "", [], True),
        (False, "", [], False),
        (True, "node", [], False),
        (True, "node", [{"key": "node.kubernetes.io/out-of-service"}], True),
        (False, "node", [{"key": "node.kubernetes.io/out-of-service"}], False),
    ],
)
def test_a_terminating_pod_without_a_kubelet_is_stuck(
    is_ending: bool, on_node: str, taints: list[Object], is_stuck: bool
) -> None:
    one = pod("one")
    one["spec"]["nodeName"] = on_node
    if is_ending:
        one["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert pod_garbage.is_stuck(one, {"spec": {"taints": taints}} if on_node else None) is is_stuck


def test_a_lost_pod_fails_and_says_why() -> None:
    one = pod("one", phase="Running")

    assert pod_garbage.fail(one, is_lost=True, now="2026-01-01T00:00:00Z")
    assert (one["status"]["phase"], one["status"]["conditions"][0]["reason"]) == ("Failed", "DeletionByPodGC")
    assert not pod_garbage.fail(one, is_lost=True, now="2026-01-01T00:00:00Z")

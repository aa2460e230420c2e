import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import node_placement as scheduling
from tests.controllers.making import obj, pod


def _node(name: str, **spec: object) -> Object:
    node = obj(name, namespace="", labels={"disk": "ssd", "kubernetes.io/hostname": name, "cores": "8"})
    return {**node, "spec": spec, "status": {"allocatable": {"cpu": "2", "pods": "3"}}}


def _wanting(**spec: object) -> Object:
    made = pod("p")
    made["spec"].update(spec)
    return made


def test_taints_keep_pods_away_that_do_not_tolerate_them() -> None:
    node = _node("a", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    tolerating = _wanting(tolerations=[{"key": "k", "operator": "Exists"}])

    assert scheduling.keeps_away(pod("p"), node) == "node(s) had untolerated taint(s)"
    assert scheduling.keeps_away(tolerating, node) == ""


def test_a_node_that_is_cordoned_takes_nothing() -> None:
    assert scheduling.keeps_away(pod("p"), _node("a", unschedulable=True)) == "node(s) were unschedulable"


def test_a_pod_goes_where_its_selector_says() -> None:
    assert scheduling.matches_node(_wanting(nodeSelector={"disk": "ssd"}), _node("a"))
    assert not scheduling.matches_node(_wanting(nodeSelector={"disk": "hdd"}), _node("a"))


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["8"], True),
        ("NotIn", ["8"], False),
        ("Exists", None, True),
        ("DoesNotExist", None, False),
        ("Gt", ["4"], True),
        ("Lt", ["x"], False),
    ],
)
def test_node_affinity_compares(operator: str, values: list[str] | None, fits: bool) -> None:
    expression = {"key": "cores", "operator": operator, "values": values}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    wanting = _wanting(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})

    assert scheduling.matches_node(wanting, _node("a")) is fits

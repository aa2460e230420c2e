"""The scheduler's choice of a node, and its messages."""

from typing import Any

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.scheduling import preemption
from aio_apiserver.simulation.scheduling.cluster_view import ClusterView
from aio_apiserver.simulation.scheduling.pod_views import PodView, view_of
from aio_apiserver.simulation.scheduling.preemption import PreemptionCandidate
from aio_apiserver.simulation.scheduling.rejections import Rejection, not_preempted
from aio_apiserver.simulation.scheduling.search import Found, Search, Wanted
from tests.controllers.making import obj, pod

_HOST = "kubernetes.io/hostname"


def _node(name: str, *, zone: str = "", cpu: str = "2", pods: str = "10", **spec: Any) -> Object:
    labels = {_HOST: name, **({"zone": zone} if zone else {})}
    made = obj(name, namespace="", labels=labels)
    return {**made, "spec": spec, "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": pods}}}


def _view(*nodes: Object) -> ClusterView:
    view = ClusterView()
    for node in nodes:
        view.put_node(node["metadata"]["name"], node)
    return view


def _pod(name: str, *, app: str = "web", cpu: str = "", priority: int = 0, **spec: Any) -> PodView:
    made = pod(name, labels={"app": app})
    requests = {"resources": {"requests": {"cpu": cpu}}} if cpu else {}
    made["spec"].update({"containers": [{"name": "a", **requests}], "priority": priority, **spec})
    return view_of(made)


def _affinity(kind: str, app: str, key: str = _HOST, weight: int = 0) -> Object:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    if weight:
        return {
            kind: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight, "podAffinityTerm": term}]}
        }
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _spread(action: str = "DoNotSchedule", key: str = "zone", **more: Any) -> list[Object]:
    selector = {"matchLabels": {"app": "web"}}
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": action, "labelSelector": selector, **more}]


def _find(view: ClusterView, wanted: PodView) -> Found:
    return Search().find(Wanted(wanted, view))


def test_the_emptiest_node_is_taken() -> None:
    view = _view(_node("a"), _node("b"))
    view.put(_pod("x"), "a")

    assert _find(view, _pod("p")).node == "b"


def test_every_reason_is_counted_as_kube_scheduler_does() -> None:
    tainted = _node("c", taints=[{"key": "k", "effect": "NoSchedule"}])
    view = _view(_node("a", cpu="1"), _node("b", pods="0"), tainted, _node("d", unschedulable=True))

    found = _find(view, _pod("p", cpu="1500m"))

    assert not found.node
    assert found.diagnosis.message("no new claims to deallocate") == (
        "0/4 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) had untolerated taint(s), "
        "1 node(s) were unschedulable. no new claims to deallocate"
    )
    assert found.diagnosis.hopeful == ["b"]
    assert _find(_view(), _pod("p")).diagnosis.message() == "no nodes available to schedule pods"


def test_ports_of_the_host_are_taken_once() -> None:
    containers = [{"name": "a", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    view = _view(_node("a"))
    view.put(_pod("x", containers=containers), "a")

    found = _find(view, _pod("p", containers=containers))

    assert "didn't have free ports for the requested pod ports" in found.diagnosis.message()


def test_anti_affinity_works_in_both_directions() -> None:
    view = _view(_node("a"))
    view.put(_pod("x", affinity=_affinity("podAntiAffinity", "db")), "a")

    theirs = _find(view, _pod("p", app="db"))
    own = _find(view, _pod("p", affinity=_affinity("podAntiAffinity", "web")))

    assert "1 node(s) didn't satisfy existing pods anti-affinity rules" in theirs.diagnosis.message()
    assert "1 node(s) didn't match pod anti-affinity rules" in own.diagnosis.message()
    view.remove("default/x")
    assert _find(view, _pod("p", app="db")).node == "a"


def test_affinity_needs_a_neighbour_except_for_the_first_pod_that_selects_itself() -> None:
    view = _view(_node("a", zone="x"), _node("b", zone="x"), _node("c", zone="y"))
    friend = _affinity("podAffinity", "db", "zone")

    alone = _find(view, _pod("p", affinity=friend))
    first = _find(view, _pod("p", app="db", affinity=friend))
    view.put(_pod("x", app="db"), "c")
    near = _find(view, _pod("p", affinity=friend))

    assert "3 node(s) didn't match pod affinity rules" in alone.diagnosis.message()
    assert (first.node, near.node) == ("a", "c")


def test_preferred_neighbours_win_over_empty_nodes() -> None:
    view = _view(_node("a"), _node("b"))
    view.put(_pod("x", app="db"), "b")

    assert _find(view, _pod("p", affinity=_affinity("podAffinity", "db", weight=100))).node == "b"
    assert _find(view, _pod("p", affinity=_affinity("podAntiAffinity", "db", weight=100))).node == "a"


def test_terms_select_namespaces_by_their_labels() -> None:
    view = _view(_node("a"))
    view.put_namespace("other", {"team": "x"})
    term = {
        "labelSelector": {},
        "namespaceSelector": {"matchLabels": {"team": "x"}},
        "topologyKey": _HOST,
    }
    wanting = _pod("p", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    view.put(_pod("x"), "a")
    assert _find(view, wanting).node == "a"

    other = pod("y", namespace="other")
    view.put(view_of(other), "a")

    assert not _find(view, wanting).node


def test_pods_spread_over_domains() -> None:
    view = _view(_node("a", zone="x"), _node("b", zone="x"), _node("c", zone="y"), _node("d"))
    view.put(_pod("1"), "a")

    first = _find(view, _pod("p", topologySpreadConstraints=_spread()))
    assert first.node == "c"

    view.put_node("c", {**_node("c", zone="y"), "spec": {"unschedulable": True}})
    second = _find(view, _pod("p", topologySpreadConstraints=_spread()))
    assert second.diagnosis.message() == (
        "0/4 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label), "
        "1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints."
    )

    tolerant = _spread(nodeTaintsPolicy="Honor")
    assert _find(view, _pod("p", topologySpreadConstraints=tolerant)).node == "b"


def test_soft_constraints_spread_without_refusing() -> None:
    view = _view(_node("a", zone="x"), _node("b", zone="y"))
    for number in range(2):
        view.put(_pod(f"{number}"), "b")
    view.put(_pod("big", app="other", cpu="1"), "a")

    assert _find(view, _pod("p", topologySpreadConstraints=_spread("ScheduleAnyway"))).node == "a"


def test_room_that_is_nominated_is_kept_from_pods_of_lower_priority() -> None:
    view = _view(_node("a"))
    view.nominate(_pod("important", cpu="2", priority=10), "a")

    assert not _find(view, _pod("p", cpu="1")).node
    assert _find(view, _pod("p", cpu="1", priority=20)).node == "a"
    assert view.node_of("default/important") == ""


def test_many_nodes_are_searched_in_turn() -> None:
    view = _view(*(_node(f"{number}") for number in range(300)))
    search = Search()

    found = {search.find(Wanted(_pod(str(number)), view)).node for number in range(10)}

    assert len(found) == 10


# Preemption


def _preempted(view: ClusterView, wanted: PodView, *budgets: Object) -> PreemptionCandidate | Rejection:
    node = view.node("a")
    assert node is not None
    return preemption.on_node(Wanted(wanted, view), node, budgets)


def _names(candidate: PreemptionCandidate | Rejection) -> list[str]:
    assert isinstance(candidate, PreemptionCandidate)
    return [one.key for one in candidate.victims]


def test_the_least_important_pods_have_to_go_and_no_more_than_needed() -> None:
    view = _view(_node("a"))
    for name, priority in (("low", 1), ("mid", 2)):
        view.put(_pod(name, cpu="1", priority=priority), "a")

    assert _names(_preempted(view, _pod("p", cpu="1", priority=10))) == ["default/low"]
    assert _names(_preempted(view, _pod("p", cpu="2", priority=10))) == ["default/mid", "default/low"]
    assert {view.node_of("default/low"), view.node_of("default/mid")} == {"a"}


def test_pods_of_a_spent_budget_go_last() -> None:
    view = _view(_node("a"))
    view.put(_pod("low", cpu="1", priority=1), "a")
    view.put(_pod("mid", app="db", cpu="1", priority=2), "a")
    budget = obj("b")
    budget.update({"spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"disruptionsAllowed": 0}})

    candidate = _preempted(view, _pod("p", cpu="1", priority=10), budget)

    assert _names(candidate) == ["default/mid"]
    assert isinstance(candidate, PreemptionCandidate)
    assert candidate.violations == 0


def test_preemption_says_why_it_does_not_help() -> None:
    view = _view(_node("a"), _node("b"))
    view.put(_pod("same", cpu="2", priority=10), "a")
    result = _preempted(view, _pod("p", cpu="1", priority=10))

    assert isinstance(result, Rejection)
    assert not_preempted({"a": result}, 2) == (
        "0/2 nodes are available: 1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling."
    )


@pytest.mark.parametrize(("spec", "why"), [({"preemptionPolicy": "Never"}, preemption.NEVER), ({}, "")])
def test_a_pod_may_renounce_preemption(spec: Object, why: str) -> None:
    assert preemption.ineligible(_pod("p", **spec), None, is_hopeless=False) == why

from aio_apiserver.controllers.garbage_collection import ownership
from aio_apiserver.controllers.garbage_collection.ownership import (
    Fate,
    GarbageVerdict,
    Graph,
    GraphPlace,
    ObjectNode,
    node_of,
)
from aio_apiserver.controllers.runtime.resources import PODS
from tests.controllers.making import obj, owned

_PODS = GraphPlace(PODS, "Pod")


def _graph(*nodes: ObjectNode) -> Graph:
    graph = Graph()
    for node in nodes:
        graph.put(node)
    return graph


_PARENT = node_of(obj("parent"), _PODS, "default/parent")
_CHILD = node_of(owned(obj("child"), "parent", blockOwnerDeletion=True), _PODS, "default/child")
_WAITING = node_of(
    obj("parent", finalizers=["foregroundDeletion"], deletionTimestamp="2026-01-01T00:00:00Z"), _PODS, "default/parent"
)


def test_dependents_are_looked_at_when_their_owner_is_gone() -> None:
    assert _graph(_PARENT, _CHILD).remove("parent") == {"child"}


def test_what_has_owners_is_looked_at_when_it_is_seen() -> None:
    graph = Graph()

    assert graph.put(_PARENT) == set()
    assert graph.put(_CHILD) == {"child"}


def test_an_owner_that_waits_is_looked_at_when_a_dependent_is_gone() -> None:
    assert _graph(_WAITING, _CHILD).remove("child") == {"parent"}


def test_an_owner_that_waits_is_looked_at_when_a_dependent_lets_it_go() -> None:
    graph = _graph(_WAITING, _CHILD)

    assert graph.put(node_of(obj("child"), _PODS, "default/child")) == {"parent"}
    assert graph.dependents_of("parent") == []


def test_an_object_goes_when_all_its_owners_are_gone() -> None:
    assert ownership.judge({"a": Fate.GONE, "b": Fate.GONE}, _CHILD, ()) == GarbageVerdict(delete="Background")


def test_an_object_with_an_owner_left_loses_the_other_references() -> None:
    assert ownership.judge({"a": Fate.THERE, "b": Fate.GONE}, _CHILD, ()) == GarbageVerdict(drop=frozenset("b"))
    assert ownership.judge({"a": Fate.THERE, "b": Fate.WAITING}, _CHILD, ()) == GarbageVerdict(drop=frozenset("b"))


def test_an_object_with_dependents_of_its_own_goes_behind_them_when_its_owner_waits() -> None:
    dependent = node_of(owned(obj("grandchild"), "child"), _PODS, "default/grandchild")

    assert ownership.judge({"a": Fate.WAITING}, _CHILD, [dependent]) == GarbageVerdict(delete="Foreground")
    assert ownership.judge({"a": Fate.WAITING}, _CHILD, ()) == GarbageVerdict(delete="Background")


def test_objects_that_wait_for_each_other_are_freed() -> None:
    assert ownership.judge({"a": Fate.WAITING}, _CHILD, [_WAITING]).unblock


def test_a_finalizer_says_how_an_object_goes() -> None:
    orphaning = node_of(obj("x", finalizers=["orphan"]), _PODS, "default/x")

    assert ownership.judge({"a": Fate.GONE}, orphaning, ()).delete == "Orphan"


def test_references_and_finalizers_are_taken_off_without_a_trace() -> None:
    child = owned(obj("child", finalizers=["orphan"]), "parent")

    assert ownership.drop_owners(child, frozenset({"parent"}))
    assert ownership.drop_finalizer(child, "orphan")
    assert child == obj("child")
    assert not ownership.drop_owners(child, frozenset({"parent"}))

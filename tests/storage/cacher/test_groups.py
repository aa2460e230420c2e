"""Groups: which groups of watchers a change is matched with."""

from collections.abc import Collection

from aio_apiserver.storage.cacher.cache_watcher import CacheWatcher
from aio_apiserver.storage.cacher.groups import Groups
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.interface import WatchOptions
from aio_apiserver.storage.selection import Operator, Requirement, SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.cacher.fanning import Sink
from tests.storage.cacher.objects import stored
from tests.storage.steps import labelled


def watcher(predicate: SelectionPredicate, scope: str = "default/") -> CacheWatcher:
    return CacheWatcher(Sink(), lambda _: None, scope=scope, options=WatchOptions(predicate=predicate))


def change(previous: StoredObject | None, current: StoredObject | None) -> Change:
    return Change("default/a", previous, current=current, revision=12, at=0.0)


def selections(groups: Groups, step: Change) -> Collection[SelectionPredicate]:
    return {group.predicate for group in groups.concerned(step)}


def test_a_change_is_matched_with_the_groups_of_its_label_values() -> None:
    groups = Groups(())
    for number in range(500):
        groups.add(watcher(labelled(app=f"a{number}")))
    groups.add(watcher(labelled(app="a1"), scope="other/"))
    groups.add(watcher(labelled(tier="web")))

    one = stored("default/a", 11, labels={"app": "a1"})
    other = stored("default/a", 12, labels={"app": "a2", "tier": "web"})

    assert selections(groups, change(None, one)) == {labelled(app="a1")}
    assert selections(groups, change(one, other)) == {labelled(app="a1"), labelled(app="a2"), labelled(tier="web")}
    assert selections(groups, change(None, stored("default/a", 11))) == set()


def test_a_selection_of_several_values_meets_every_change_of_its_scope() -> None:
    groups = Groups(())
    several = SelectionPredicate((Requirement("app", Operator.IN, frozenset({"a1", "a2"})),))
    groups.add(watcher(several))

    assert selections(groups, change(None, stored("default/a", 11))) == {several}


def test_the_last_watcher_of_a_label_leaves_nothing() -> None:
    groups = Groups(())
    members = [watcher(labelled(app=f"a{number % 2}")) for number in range(4)]
    of = {one: groups.add(one) for one in members}

    for one in members:
        groups.discard(one, of[one])

    assert not groups
    assert list(groups) == []
    assert not groups._by_label

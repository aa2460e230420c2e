"""The Store against a simple model: whatever is written, lists and watches show each revision as it was."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.storage.errors import KeyExists, KeyNotFound
from aio_apiserver.storage.interface import ListOptions, Match, Update, WatchEvent, WatchEventType
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.selection import EVERYTHING, SelectionPredicate
from aio_apiserver.storage.store.store import Store
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.steps import Watcher, labelled, setting, widget, with_field
from tests.storage.stores import store_on

View = dict[str, bytes]
"""What is seen of a revision: the JSON of each object."""

KEYS = ("default/a", "default/b", "other/a", "other/aa")
PREDICATES = (EVERYTHING, labelled(app="web"), with_field("spec.color", "red"), with_field("metadata.name", "a"))
SCOPES = ("", "default/", "other/")


@dataclass(frozen=True)
class Step:
    verb: str
    key: str
    app: str
    color: str


STEPS = st.builds(
    Step,
    st.sampled_from(["create", "recolor", "recolor", "relabel", "delete"]),
    st.sampled_from(KEYS),
    st.sampled_from(["web", "db"]),
    st.sampled_from(["red", "blue"]),
)


@dataclass
class Model:
    """The state after each revision."""

    states: dict[int, dict[str, tuple[str, str, bytes]]] = field(default_factory=lambda: {1: {}})

    @property
    def revision(self) -> int:
        return max(self.states)

    def put(self, step: Step, revision: int, json: bytes, *, app: str, color: str) -> None:
        self.states[revision] = {**self.states[self.revision], step.key: (app, color, json)}

    def remove(self, key: str, revision: int) -> None:
        self.states[revision] = {name: value for name, value in self.states[self.revision].items() if name != key}

    def view(self, revision: int, scope: str, predicate: SelectionPredicate) -> View:
        """What a list must show, in key order."""
        return {
            key: json
            for key, (app, color, json) in sorted(self.states[revision].items())
            if key.startswith(scope) and selects(predicate, key, app, color)
        }


def selects(predicate: SelectionPredicate, key: str, app: str, color: str) -> bool:
    return {
        EVERYTHING: True,
        labelled(app="web"): app == "web",
        with_field("spec.color", "red"): color == "red",
        with_field("metadata.name", "a"): key.endswith("/a"),
    }[predicate]


async def write(store: Store, model: Model, step: Step) -> None:
    """Do it in both; what the store refuses, the model knows why."""
    known = model.states[model.revision].get(step.key)
    namespace, name = step.key.split("/")
    try:
        if step.verb == "create":
            obj = widget(name, namespace=namespace, labels={"app": step.app}, color=step.color)
            stored = await store.create(step.key, obj)
            model.put(step, stored.revision, stored.json, app=step.app, color=step.color)
        elif step.verb == "delete":
            model.remove(step.key, (await store.delete(step.key)).revision)
        else:
            await change(store, model, step)
    except KeyExists:
        assert known is not None
    except KeyNotFound:
        assert known is None


async def change(store: Store, model: Model, step: Step) -> None:
    if step.verb == "recolor":
        stored = await store.guaranteed_update(step.key, setting(color=step.color))
    else:

        async def relabel(current: StoredObject | None) -> Update:
            update = await setting()(current)
            update.obj["metadata"]["labels"] = {"app": step.app}
            return update

        stored = await store.guaranteed_update(step.key, relabel)
    if stored.revision > model.revision:
        model.put(step, stored.revision, stored.json, app=stored.labels["app"], color=stored.fields["spec.color"])


def replay(view: View, events: Sequence[WatchEvent]) -> View:
    """The view after the events; each must fit what was seen before it."""
    view = dict(view)
    revision = 0
    for event in events:
        if event.type is WatchEventType.BOOKMARK:
            continue
        assert event.object is not None
        key = event.object.key
        assert event.revision > revision
        assert (key in view) is (event.type is not WatchEventType.ADDED)
        revision = event.revision
        if event.type is WatchEventType.DELETED:
            del view[key]
        else:
            view[key] = event.object.json
    return view


async def until_told(store: Store, watcher: Watcher, revision: int) -> list[WatchEvent]:
    """All events up to the bookmark that says that there are no more."""
    while not watcher.events or watcher.events[-1].revision < revision:
        await store.request_progress()
        await asyncio.sleep(0)
    watcher.stop()
    return watcher.events


async def check_watches(store: Store, model: Model) -> None:
    for start in model.states:
        for scope in SCOPES:
            for predicate in PREDICATES:
                watcher = await Watcher.on(
                    store, scope, resource_version=start, predicate=predicate, allow_bookmarks=True
                )
                events = await until_told(store, watcher, model.revision)
                seen = replay(model.view(start, scope, predicate), events)
                assert dict(sorted(seen.items())) == model.view(model.revision, scope, predicate)


async def check_lists(store: Store, model: Model, limit: int) -> None:
    for revision in list(model.states)[1:]:
        for scope in SCOPES:
            for predicate in PREDICATES:
                options = ListOptions(resource_version=revision, match=Match.EXACT, predicate=predicate, limit=limit)
                found: View = {}
                while True:
                    page = await store.get_list(scope, options)
                    found.update((item.key, item.json) for item in page.items)
                    assert page.revision == revision
                    if not page.continue_token:
                        break
                    options = ListOptions(predicate=predicate, limit=limit, continue_token=page.continue_token)
                assert list(found.items()) == list(model.view(revision, scope, predicate).items())


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, max_size=16), st.integers(0, 3))
def test_every_revision_is_listed_and_watched_as_it_was(steps: list[Step], limit: int) -> None:
    async def run() -> None:
        kv = MemoryKV()
        store = store_on(kv)
        model = Model()
        for step in steps:
            await write(store, model, step)
        await check_lists(store, model, limit)
        await check_watches(store, model)
        await store.close()
        await kv.close()

    asyncio.run(run())

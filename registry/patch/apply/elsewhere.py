"""Elsewhere: field managers of objects whose versions somebody else converts, who has to be asked.

The work of a field manager is pure: where it needs a conversion it ends, and begins again with the answer. Must hold:
work needs conversions in the same order each time it is done, so that answers go by their number; one that is needed
twice is asked for twice, as by kube-apiserver, because whoever converts sees it.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from registry.empties import Empties, Empty
from registry.patch.apply.manager import FieldManager
from registry.patch.apply.ownership import Versioned
from registry.patch.apply.shapes import ShapeError
from storage.stored_object import Object
from storage.worker_thread import Run, at_once

T = TypeVar("T")


async def track(
    manager: FieldManager, live: Object | None, new: Object, by: str, *, empties: Empties = (), run: Run = at_once
) -> None:
    """FieldManager.track, with conversions from wherever they come."""
    if manager.ask is None:
        await run(partial(manager.track, live, new, by, empties))
        return

    def work(owners: FieldManager) -> Object:
        tried = {**new, "metadata": {**new["metadata"]}}
        owners.track(live, tried, by, empties)
        metadata: Object = tried["metadata"]
        return metadata

    new["metadata"] = await _done(manager, work, run)


async def apply(
    manager: FieldManager,
    live: Object | None,
    config: Object,
    by: str,
    *,
    force: bool,
    empties: list[Empty] | None = None,
    run: Run = at_once,
) -> Object:
    """FieldManager.apply, with conversions from wherever they come."""
    if manager.ask is None:
        return await run(partial(manager.apply, live, config, by, force=force, empties=empties))
    return await _done(manager, lambda owners: owners.apply(live, config, by, force=force, empties=empties), run)


class _Wanted(Exception):
    """The conversion that the work needs next."""

    def __init__(self, one: Versioned, api_version: str) -> None:
        super().__init__()
        self.one = one
        self.api_version = api_version


class _Answers(Struct):
    """What has been answered so far, for one more attempt."""

    known: tuple[Versioned | ShapeError, ...] = ()
    used: int = 0

    def convert(self, one: Versioned, api_version: str) -> Versioned:
        if one.api_version == api_version:
            return one
        if self.used == len(self.known):
            raise _Wanted(one, api_version)
        answer = self.known[self.used]
        self.used += 1
        if isinstance(answer, ShapeError):
            raise answer
        return answer


async def _done(manager: FieldManager, work: Callable[[FieldManager], T], run: Run) -> T:
    """What the work comes to when nothing is left to be asked."""
    answers = _Answers()
    while True:
        try:
            return await run(partial(work, replace(manager, convert=answers.convert)))
        except _Wanted as wanted:
            answer = await _answered(manager, wanted.one, wanted.api_version)
            answers = _Answers((*answers.known, answer))


async def _answered(manager: FieldManager, one: Versioned, api_version: str) -> Versioned | ShapeError:
    """An object in another version: conversions lead through the version of the request."""
    assert manager.ask is not None
    value, through = one.value, manager.form.api_version
    try:
        if through not in (one.api_version, api_version):
            value = await manager.ask(value, through)
        if api_version not in manager.forms:
            manager.form.refuse(api_version)
        return manager.forms[api_version].read(await manager.ask(value, api_version))
    except ShapeError as exc:
        return exc

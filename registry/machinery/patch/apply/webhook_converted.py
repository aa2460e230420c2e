"""Webhook converted: runs the field manager for custom resources whose versions a conversion webhook converts.

The field manager is synchronous. When it needs a conversion, its run ends, the webhook is called, and the run starts
again with the result.

Must hold: each run needs its conversions in the same order, since results are found by their number. The same
conversion is requested again each time, as kube-apiserver does, because the webhook sees the requests.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.worker_thread import Run, at_once
from aio_apiserver.registry.base.empties import Empties, Empty
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.machinery.patch.apply.ownership import Versioned
from aio_apiserver.registry.machinery.patch.apply.shapes import ShapeError

T = TypeVar("T")


async def track(
    manager: FieldManager, live: Object | None, new: Object, by: str, *, empties: Empties = (), run: Run = at_once
) -> None:
    """FieldManager.track with the conversion webhook, if there is one."""
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
    """FieldManager.apply with the conversion webhook, if there is one."""
    if manager.ask is None:
        return await run(partial(manager.apply, live, config, by, force=force, empties=empties))
    return await _done(manager, lambda owners: owners.apply(live, config, by, force=force, empties=empties), run)


class _ConversionNeeded(Exception):
    """The next conversion that the run needs."""

    def __init__(self, one: Versioned, api_version: str) -> None:
        super().__init__()
        self.one = one
        self.api_version = api_version


class _Answers(Struct):
    """The results of the webhook so far, for the next run."""

    known: tuple[Versioned | ShapeError, ...] = ()
    used: int = 0

    def convert(self, one: Versioned, api_version: str) -> Versioned:
        if one.api_version == api_version:
            return one
        if self.used == len(self.known):
            raise _ConversionNeeded(one, api_version)
        answer = self.known[self.used]
        self.used += 1
        if isinstance(answer, ShapeError):
            raise answer
        return answer


async def _done(manager: FieldManager, work: Callable[[FieldManager], T], run: Run) -> T:
    """Run the work until it needs no further conversion."""
    answers = _Answers()
    while True:
        try:
            return await run(partial(work, replace(manager, convert=answers.convert)))
        except _ConversionNeeded as wanted:
            answer = await _answered(manager, wanted.one, wanted.api_version)
            answers = _Answers((*answers.known, answer))


async def _answered(manager: FieldManager, one: Versioned, api_version: str) -> Versioned | ShapeError:
    """An object in another version. The conversion goes through the version of the request."""
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

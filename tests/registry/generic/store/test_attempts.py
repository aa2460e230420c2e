"""The order of a write: the same for a create, an update, and an update that creates."""

from collections.abc import Sequence
from typing import Any

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.admission.interface import Attributes, Chain, Operation, Plugin
from aio_apiserver.registry.generic.hooks import Hooks
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from tests.registry.generic.widgets import create, put, widgets

ORDER = ["mutate", "begin", "check", "prepare", "validate by rules", "validate"]


class Noting(Plugin):
    """Records the calls of admission, and whether the object has its uid then."""

    name = "Noting"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes

    async def mutate(self, attributes: Attributes) -> None:
        self._notes.append("mutate")

    async def validate(self, attributes: Attributes) -> None:
        assert attributes.obj is not None
        assert attributes.obj["metadata"]["uid"]
        self._notes.append("validate")


class NotingStrategy(Strategy, frozen=True):
    """Records its calls to prepare and validate; lets updates create."""

    notes: list[str] = []
    allows_create_on_update: bool = True

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        self.notes.append("prepare")

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        self.notes.append("prepare")

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        self.notes.append("validate by rules")
        return []

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        self.notes.append("validate by rules")
        return []


class Nothing:
    """A transaction without allocations."""

    async def commit(self) -> None: ...

    async def revert(self) -> None: ...


def hooks(notes: list[str]) -> Hooks:
    async def begin(*_: Any) -> Nothing:
        notes.append("begin")
        return Nothing()

    async def check(_request: Request, _part: str, _obj: Object, _old: Object | None) -> Sequence[FieldError]:
        notes.append("check")
        return ()

    return Hooks(begin_create=begin, begin_update=begin, check=check)


@pytest.mark.parametrize("is_there", [True, False])
async def test_creates_and_updates_walk_in_one_order(is_there: bool) -> None:
    notes: list[str] = []
    parts: dict[str, Any] = {
        "strategy": NotingStrategy(notes=notes),
        "hooks": hooks(notes),
        "admission": Chain([Noting(notes)]),
    }
    async with widgets(**parts) as store:
        if is_there:
            await create(store)
            assert notes == ORDER
            notes.clear()

        await put(store, {"metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {"count": 2}})

    assert notes == ORDER

"""The allocations of a write end with it: kept when it has taken effect, released when it has failed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import AlreadyExists, Invalid, Timeout
from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.hooks import Hooks
from aio_apiserver.registry.generic.options import CreateOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Made, Request, UpdatedObject
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.storage.stored_object import StoredObject
from tests.registry.generic.widgets import REQUEST, change, create, widgets


@dataclass
class Stock:
    """Counts allocations; each transaction has a number."""

    log: list[str] = field(default_factory=list)

    async def begin_create(self, obj: Object, is_dry_run: bool) -> "Taken":
        return self._take("dry" if is_dry_run else "create")

    async def begin_update(self, new: Object, old: Object, is_dry_run: bool) -> "Taken":
        return self._take("update")

    def _take(self, what: str) -> "Taken":
        number = sum(one.startswith("begin") for one in self.log)
        self.log.append(f"begin {what}")
        return Taken(self, number)

    def hooks(self, **more: Any) -> Hooks:
        return Hooks(begin_create=self.begin_create, begin_update=self.begin_update, **more)


@dataclass(frozen=True)
class Taken:
    stock: Stock
    number: int

    async def commit(self) -> None:
        self.stock.log.append(f"commit {self.number}")

    async def revert(self) -> None:
        self.stock.log.append(f"revert {self.number}")


class Refusing(Strategy, frozen=True):
    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return [*context.found, *([fields.required("spec.size")] if "size" not in obj["spec"] else [])]


class Unknown(Strategy, frozen=True):
    def canonicalize(self, obj: Object) -> None:
        raise Timeout("who knows", retry_after_seconds=1)


async def test_a_creation_keeps_what_it_took() -> None:
    stock = Stock()
    async with widgets(hooks=stock.hooks()) as store:
        await create(store)

    assert stock.log == ["begin create", "commit 0"]


async def test_a_creation_that_is_refused_or_too_late_gives_it_back() -> None:
    stock = Stock()
    async with widgets(Refusing(), hooks=stock.hooks()) as store:
        with pytest.raises(Invalid):
            await create(store)
    async with widgets(hooks=stock.hooks()) as store:
        await create(store)
        with pytest.raises(AlreadyExists):
            await create(store)

    assert stock.log == ["begin create", "revert 0", "begin create", "commit 1", "begin create", "revert 2"]


async def test_an_update_that_has_to_begin_again_gives_back_what_it_took_first() -> None:
    stock = Stock()
    async with widgets(hooks=stock.hooks()) as store:
        await create(store)
        plain = replace(store, hooks=Hooks())
        stock.log.clear()
        attempts = 0

        async def make(current: StoredObject | None) -> Made:
            nonlocal attempts
            attempts += 1
            assert current is not None
            obj = current.decode()
            obj["metadata"].pop("resourceVersion")
            obj["metadata"]["labels"] = {"by": "us"}
            return Made(obj)

        async def interfere(new: Object, old: Object, is_dry_run: bool) -> Taken:
            if attempts == 1:
                await change(plain, annotations={"by": "others"})
            return stock._take("update")

        store = replace(store, hooks=Hooks(begin_update=interfere))
        await asyncio.wait_for(store.update(REQUEST, "a", UpdatedObject(make), UpdateOptions()), 5)

    assert stock.log == ["begin update", "revert 0", "begin update", "commit 1"]


async def test_a_write_with_an_unknown_outcome_keeps_what_it_took() -> None:
    stock = Stock()
    async with widgets(Unknown(), hooks=stock.hooks()) as store:
        with pytest.raises(Timeout):
            await create(store)

    assert stock.log == ["begin create"]


async def test_subresources_take_nothing() -> None:
    stock = Stock()
    async with widgets(hooks=stock.hooks()) as store:
        await create(store)
        stock.log.clear()
        await change(store.for_subresource("status", Strategy()), labels={"a": "b"})

    assert stock.log == []


async def test_what_a_check_finds_reaches_the_strategy() -> None:
    async def check(request: Request, subresource: str, new: Object, old: Object | None) -> Sequence[FieldError]:
        return [fields.forbidden("spec.size", f"not by {request.user.name}")]

    async with widgets(Refusing(), hooks=Hooks(check=check)) as store:
        with pytest.raises(Invalid) as caught:
            await store.create(REQUEST, {"metadata": {"name": "a"}, "spec": {"size": 1}}, CreateOptions())

    assert "spec.size: Forbidden: not by system:anonymous" in caught.value.message

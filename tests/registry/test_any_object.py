"""What holds for all kinds, whatever their schemas allow."""

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.controlplane.providers import providers_of
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.access.users import ANONYMOUS
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import DecodeError, ObjectType
from tests.registry import any_objects

KINDS = [
    kind
    for provider in providers_of(Minor())
    if isinstance(provider, KindsProvider)
    for kind in provider.kinds
    if kind.versions
]
NOW = 1_900_000_000.0

any_chance = st.integers(0, 2**32).map(Random)


def type_of(kind: Kind) -> ObjectType:
    return schema.builtin().type_for(kind.group, kind.hub_version, kind.kind)


def request_of(kind: Kind) -> tuple[Request, StrategyContext]:
    namespace = "default" if kind.is_namespaced else ""
    request = Request(user=ANONYMOUS, version=kind.hub_version, warn=lambda _text: None, namespace=namespace)
    return request, request.strategy_context(NOW, Config())


def body(kind: Kind, chance: Random) -> Object | None:
    """The hub object of a body, named `a`; None when it cannot be decoded."""
    value: dict[str, Any] = any_objects.make(type_of(kind).node, chance)
    metadata = {name: one for name, one in value.get("metadata", {}).items() if name in {"labels", "annotations"}}
    kept = metadata if chance.random() < 0.2 else {}
    try:
        return decoded(kind, {**value, "metadata": {**kept, "name": "a"}})
    except DecodeError:
        return None


def decoded(kind: Kind, value: dict[str, Any]) -> Object:
    obj = type_of(kind).decode(value).obj
    for name in ("kind", "apiVersion"):
        obj.pop(name, None)
    type_of(kind).apply_defaults(obj)
    kind.strategy.default(obj)
    return obj


def canonical(kind: Kind, obj: Object) -> Object:
    printed = type_of(kind).canonical(obj)
    return {name: one for name, one in printed.items() if name not in {"kind", "apiVersion"}}


def create(kind: Kind, obj: Object) -> Object | None:
    """What is stored of a new object; None when it is refused."""
    request, context = request_of(kind)
    preparation.fill_system_fields(obj, now=NOW)
    try:
        preparation.before_create(kind, kind.strategy, request=request, obj=obj, context=context)
    except StatusError:
        return None
    obj["metadata"]["resourceVersion"] = "1"
    return canonical(kind, obj)


def update(kind: Kind, strategy: Strategy, new: Object, old: Object) -> Object:
    """What is stored of a changed object. Raises StatusError."""
    request, context = request_of(kind)
    new = canonical(kind, new) if strategy.has_generation else new
    new["metadata"] = {**old["metadata"], **new["metadata"]}
    preparation.before_update(kind, strategy, request=request, new=new, old=objects.clone(old), context=context)
    return canonical(kind, new)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.group}/{kind.plural}")
@given(chance=any_chance)
@settings(max_examples=15, deadline=None)
def test_an_object_is_accepted_or_refused_and_nothing_else(kind: Kind, chance: Random) -> None:
    obj, other = body(kind, chance), body(kind, chance)
    stored = create(kind, obj) if obj is not None else None

    for strategy in (kind.strategy, kind.status_strategy):
        if stored is not None and other is not None and strategy is not None:
            try:
                update(kind, strategy, objects.clone(other), stored)
            except StatusError:
                continue


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.group}/{kind.plural}")
@given(chance=any_chance)
@settings(max_examples=15, deadline=None)
def test_an_accepted_object_put_back_changes_nothing(kind: Kind, chance: Random) -> None:
    obj = body(kind, chance)
    stored = create(kind, obj) if obj is not None else None
    if stored is None:
        return

    try:
        again = update(kind, kind.strategy, decoded(kind, objects.clone(stored)), stored)
    except StatusError:
        if kind.plural == "nodes":  # their addresses are looked at on updates only
            return
        raise

    assert again == stored

"""Removal: a typed value without some fields, SMD's RemoveItems. Pure. Must hold: the input is not changed."""

from typing import Any

from aio_apiserver.registry.machinery.patch.apply import elements, fields
from aio_apiserver.registry.machinery.patch.apply.fields import Fields
from aio_apiserver.registry.machinery.patch.apply.shapes import ABSENT, Lists, Maps, Shape


def without(shape: Shape, value: dict[str, Any], removed: Fields) -> dict[str, Any]:
    """The object without the removed fields."""
    left: dict[str, Any] = _without(shape, value, removed) or {}
    return left


def _without(shape: Shape, value: Any, removed: Fields) -> Any:
    """None when no member is left. An atomic map or list is removed as a whole."""
    part = shape.part(value)
    if isinstance(value, dict) and isinstance(part, Maps):
        return None if part.is_atomic else _map_left(part, value, removed)
    if isinstance(value, list) and isinstance(part, Lists):
        return None if part.is_atomic else _list_left(part, value, removed)
    return value


def _map_left(part: Maps, value: dict[str, Any], removed: Fields) -> dict[str, Any] | None:
    left = {}
    for name, one in value.items():
        inside = removed.get(elements.FIELD + name)
        kept = one if inside is None else _pruned(part.member(name), one, inside)
        if kept is not ABSENT:
            left[name] = kept
    return left or None


def _list_left(part: Lists, value: list[Any], removed: Fields) -> list[Any] | None:
    left = []
    for one in value:
        kept = _pruned(part.items, one, removed.get(part.element(one)))
        if kept is not ABSENT:
            left.append(kept)
    return left or None


def _pruned(shape: Shape, value: Any, removed: Fields | None) -> Any:
    if removed is None:
        return value
    return ABSENT if fields.is_member(removed) else _without(shape, value, removed)

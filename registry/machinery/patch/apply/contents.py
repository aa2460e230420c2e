"""Contents: the field set of a value, SMD's ToFieldSet. Pure."""

from typing import Any

from aio_apiserver.registry.machinery.patch.apply import elements, fields
from aio_apiserver.registry.machinery.patch.apply.fields import LEAF, NOTHING, Fields
from aio_apiserver.registry.machinery.patch.apply.shapes import DEDUCED, Lists, Maps, Shape


def field_set(shape: Shape, value: Any) -> Fields:
    """The fields that an object sets. The object itself is no field."""
    return _set(shape, value) or NOTHING


def _set(shape: Shape, value: Any) -> Fields | None:
    """The tree below a value's element; None for no fields, since the empty tree is a member."""
    part = shape.part(value)
    if isinstance(part, Maps) and not part.is_atomic:
        return _of_map(part, value) if isinstance(value, dict) else None
    if isinstance(part, Lists) and not part.is_atomic:
        return _of_list(part, value) if isinstance(value, list) else None
    return LEAF


def _of_map(part: Maps, value: dict[str, Any]) -> Fields | None:
    if part.of_scalars:
        return dict.fromkeys(map(elements.field, sorted(value)), LEAF) or None
    tree: Fields = {}
    for name, one in value.items():
        shape = part.fields.get(name) or part.rest or DEDUCED
        if shape.maps is None and shape.lists is None:
            tree[elements.FIELD + name] = LEAF
            continue
        inside = _of_member(shape, one, is_named=name in part.fields)
        if inside is not None:
            tree[elements.field(name)] = inside
    return fields.ordered(tree) or None


def _of_member(shape: Shape, value: Any, *, is_named: bool) -> Fields | None:
    inside = _set(shape, value)
    return fields.as_member(inside) if value is None or value == {} or not is_named else inside


def _of_list(part: Lists, value: list[Any]) -> Fields | None:
    """Elements with the same key become one member without fields below."""
    tree: Fields = {}
    for one in value:
        element = part.element(one)
        tree[element] = LEAF if element in tree else fields.as_member(_set(part.items, one))
    return fields.ordered(tree) or None


def with_named_fields(shape: Shape, tree: Fields) -> Fields:
    """The set with every field of a struct that has set fields below it."""
    part = shape.maps
    result: Fields = {}
    for element, inside in tree.items():
        if not inside:
            result[element] = inside
            continue
        name = element[len(elements.FIELD) :] if element.startswith(elements.FIELD) else None
        below = with_named_fields(_below(shape, element, name), inside)
        is_named = name is not None and part is not None and name in part.fields
        result[element] = fields.as_member(below) if is_named else below
    return result


def _below(shape: Shape, element: str, name: str | None) -> Shape:
    if name is not None and shape.maps is not None:
        return shape.maps.member(name)
    return shape.lists.items if element.startswith(elements.KEYS) and shape.lists is not None else Shape()

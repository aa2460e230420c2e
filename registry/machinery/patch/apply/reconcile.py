"""Reconcile: what is owned under a type that has been changed since, brought to the words of the present type.

A list or map that is one thing today may have been owned in parts: then whoever owned parts owns it. The other way
needs nothing. Pure.
"""

from aio_apiserver.registry.machinery.patch.apply import elements
from aio_apiserver.registry.machinery.patch.apply.fields import LEAF, Fields
from aio_apiserver.registry.machinery.patch.apply.shapes import DEDUCED, UNTYPED, Shape


def reconciled(shape: Shape, owned: Fields) -> Fields:
    """The set as the type of today has it; the same one when nothing changes, which is the usual case."""
    changes = {}
    for element, inside in owned.items():
        if inside:
            below = _below(shape, element, inside)
            if below is not inside:
                changes[element] = below
    return {**owned, **changes} if changes else owned


def _below(shape: Shape, element: str, inside: Fields) -> Fields:
    below = _shape_of(shape, element)
    if below is None or below is DEDUCED or below is UNTYPED:
        return inside
    part = below.maps or below.lists
    return LEAF if part is not None and part.is_atomic else reconciled(below, inside)


def _shape_of(shape: Shape, element: str) -> Shape | None:
    if not element.startswith(elements.FIELD):
        return shape.lists.items if shape.lists is not None else None
    if shape.maps is None:
        return None
    return shape.maps.fields.get(element[len(elements.FIELD) :]) or shape.maps.rest

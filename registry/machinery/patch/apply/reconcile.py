"""Reconcile: adapts a field set to a type that has changed since, SMD's ReconcileFieldSetWithSchema.

When a list or map has become atomic, a manager of parts becomes the manager of the whole. The other direction needs no
change.

Pure.
"""

from aio_apiserver.registry.machinery.patch.apply import elements
from aio_apiserver.registry.machinery.patch.apply.fields import LEAF, Fields
from aio_apiserver.registry.machinery.patch.apply.shapes import DEDUCED, UNTYPED, Shape


def reconciled(shape: Shape, owned: Fields) -> Fields:
    """The set under the present type; the same object when it does not change, which is the usual case."""
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

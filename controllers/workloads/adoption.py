"""Adoption: which objects an owner keeps, releases and adopts by its selector.

Pure. Must hold: an owner that is being deleted adopts nothing. A dependent that is being deleted is not released.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods
from aio_apiserver.registry.base.validation.label_selectors import selects


class Claims(NamedTuple):
    """mine: kept objects. released: objects that the selector does not match any more. adopted: matching objects
    without a controller.
    """

    mine: list[Object]
    released: list[Object]
    adopted: list[Object]


def claims(
    owner: Object, selector: Mapping[str, Any] | None, controlled: Sequence[Object], orphans: Sequence[Object]
) -> Claims:
    """Sort the dependents of an owner, and the objects without a controller."""
    found = Claims([], [], [])
    for obj in controlled:
        is_mine = selects(selector, _labels(obj)) or pods.is_ending(obj)
        (found.mine if is_mine else found.released).append(obj)
    if not pods.is_ending(owner):
        found.adopted.extend(one for one in orphans if pods.is_active(one) and selects(selector, _labels(one)))
    return found


def _labels(obj: Object) -> Mapping[str, str]:
    return obj["metadata"].get("labels") or {}

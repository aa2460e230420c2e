"""Claims: which objects an owner controls, lets go and takes in. Pure.

Must hold: an owner that is being deleted takes nothing in; what is being deleted itself stays where it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aio_apiserver.controllers.decisions import pods
from aio_apiserver.registry.base.validation.label_selectors import selects
from aio_apiserver.storage.stored_object import Object


class Claims(NamedTuple):
    """mine: what stays. released: what is no longer selected. adopted: what has no controller and is selected."""

    mine: list[Object]
    released: list[Object]
    adopted: list[Object]


def claims(
    owner: Object, selector: Mapping[str, Any] | None, controlled: Sequence[Object], orphans: Sequence[Object]
) -> Claims:
    """What to do about the objects that an owner controls and about those that nothing controls."""
    found = Claims([], [], [])
    for obj in controlled:
        is_mine = selects(selector, _labels(obj)) or pods.is_ending(obj)
        (found.mine if is_mine else found.released).append(obj)
    if not pods.is_ending(owner):
        found.adopted.extend(one for one in orphans if pods.is_active(one) and selects(selector, _labels(one)))
    return found


def _labels(obj: Object) -> Mapping[str, str]:
    return obj["metadata"].get("labels") or {}

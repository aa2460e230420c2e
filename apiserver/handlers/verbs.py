"""Verbs: what a resource offers, by the registry's contracts that its storage fulfils.

The one place that knows which methods a verb needs. Pure: what it says of a storage never changes.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.generic.rest import RESTStorage

_METHODS: Mapping[str, tuple[str, ...]] = {
    "create": ("create",),
    "delete": ("delete",),
    "deletecollection": ("delete_collection",),
    "get": ("get",),
    "list": ("list",),
    "patch": ("get", "update"),
    "update": ("update",),
    "watch": ("watch",),
}
_OF_SUBRESOURCES = frozenset({"create", "get", "patch", "update"})

IN_ORDER = tuple(_METHODS)
"""The verbs that discovery tells of, in its order."""


def connects(storage: RESTStorage) -> bool:
    """Whether it leads on to somewhere else."""
    return hasattr(storage, "connect")


def offered(storage: Any, *, is_subresource: bool) -> frozenset[str]:
    """What a resource can do: what its contracts make possible and its kind allows."""
    if connects(storage):
        return frozenset(storage.verbs)
    allowed = _OF_SUBRESOURCES if is_subresource else storage.kind.verbs
    possible = (verb for verb, methods in _METHODS.items() if all(hasattr(storage, method) for method in methods))
    return frozenset(verb for verb in possible if verb in allowed)

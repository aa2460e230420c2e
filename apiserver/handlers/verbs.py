"""Verbs: what a resource offers, by the registry's contracts that its storage fulfils.

The one place that knows which methods a verb needs: discovery lists it, requests are checked against it.
"""

from collections.abc import Mapping
from typing import Any

from apiserver.handlers.served import Served

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


def connects(served: Served[Any]) -> bool:
    """Whether it leads on to somewhere else."""
    return hasattr(served.storage, "connect")


def takes_paths(served: Served[Any]) -> bool:
    """Whether a path may go on behind it."""
    return connects(served) and bool(served.storage.takes_paths)


def offers(served: Served[Any], verb: str) -> bool:
    """Whether a resource can do what a verb asks for."""
    if connects(served):
        return verb in served.storage.verbs
    if not all(hasattr(served.storage, method) for method in _METHODS.get(verb, ("",))):
        return False
    return verb in (_OF_SUBRESOURCES if served.subresource else served.kind.verbs)


def verbs_of(served: Served[Any]) -> list[str]:
    """All that it offers, in the order of discovery."""
    return [verb for verb in _METHODS if offers(served, verb)]

"""Verbs: the verbs of a resource for discovery, by the REST contracts that its storage implements.

Pure: the result is the same for all storages of a class.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.generic import rest
from aio_apiserver.registry.generic.rest import RESTStorage

_CONTRACTS: Mapping[str, tuple[type, ...]] = {
    "create": (rest.Creater,),
    "delete": (rest.Deleter,),
    "deletecollection": (rest.Deleter,),
    "get": (rest.Getter,),
    "list": (rest.Lister,),
    "patch": (rest.Getter, rest.Updater),
    "update": (rest.Updater,),
    "watch": (rest.Watcher,),
}
_OF_SUBRESOURCES = frozenset({"create", "get", "patch", "update"})

IN_ORDER = tuple(_CONTRACTS)
"""The verbs of discovery, in its order."""

_possible: dict[type, frozenset[str]] = {}
"""The result by the class of a storage: `isinstance` with a protocol takes long."""


def connects(storage: RESTStorage) -> bool:
    """Whether it opens connections to a kubelet, a pod or a service."""
    return isinstance(storage, rest.Connecter)


def possible(storage: RESTStorage) -> frozenset[str]:
    """The verbs whose contracts a storage implements."""
    found = _possible.get(type(storage))
    if found is None:
        found = _possible[type(storage)] = frozenset(
            verb for verb, contracts in _CONTRACTS.items() if all(isinstance(storage, one) for one in contracts)
        )
    return found


def offered(storage: Any, *, is_subresource: bool) -> frozenset[str]:
    """The verbs of a resource: those that its contracts implement and its kind allows."""
    if isinstance(storage, rest.Connecter):
        return frozenset(storage.verbs)
    allowed = _OF_SUBRESOURCES if is_subresource else storage.kind.verbs
    return frozenset(verb for verb in possible(storage) if verb in allowed)

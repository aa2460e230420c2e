"""Modes: the Authorizer that the flags ask for, with what must run for it to know what it decides on."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec import Struct

from registry.access.always import AlwaysAllow, AlwaysDeny, PrivilegedGroup
from registry.access.authorizer import Authorizer
from registry.access.node import Node
from registry.access.rbac import RBAC
from registry.access.rbac_feed import RBACFeed
from registry.rest import StorageFor
from storage.clock import Clock

Run = Callable[[Clock], Coroutine[Any, Any, None]]
"""Background work that ends when it is cancelled."""


class Modes(Struct, frozen=True):
    """An Authorizer and its background work."""

    authorizer: Authorizer
    runs: Sequence[Run] = ()


def own(name: str, storage_for: StorageFor) -> Modes:
    """A mode that needs nothing but the server itself."""
    match name:
        case "AlwaysAllow":
            return Modes(AlwaysAllow())
        case "AlwaysDeny":
            return Modes(AlwaysDeny())
        case "RBAC":
            feed = RBACFeed(storage_for)
            return Modes(RBAC(feed), (feed.run,))
        case "Node":
            node = Node(storage_for)
            return Modes(node, (node.run,))
        case _:
            raise ValueError(f"{name} needs a configuration")


def in_order(modes: Sequence[Modes]) -> Sequence[Authorizer]:
    """The modes' authorizers, behind the right of administrators to everything."""
    return [PrivilegedGroup(), *(mode.authorizer for mode in modes)]

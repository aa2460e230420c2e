"""Modes: the Authorizer that --authorization-mode asks for, with what must run for it to know what it decides on."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from registry.access.always import AlwaysAllow, AlwaysDeny, PrivilegedGroup
from registry.access.authorizer import Authorizer, Chain
from registry.access.node import Node
from registry.access.rbac import RBAC
from registry.access.rbac_feed import RBACFeed
from registry.rest import StorageFor
from storage.clock import Clock

Run = Callable[[Clock], Coroutine[Any, Any, None]]
"""Background work that ends when it is cancelled."""


@dataclass(frozen=True, slots=True)
class Modes:
    """An Authorizer and its background work."""

    authorizer: Authorizer
    runs: Sequence[Run] = ()


def of(modes: Sequence[str], storage_for: StorageFor) -> Modes:
    """The modes in their order, behind the right of administrators to everything."""
    chosen = [_mode(mode, storage_for) for mode in modes]
    authorizers = [PrivilegedGroup(), *(mode.authorizer for mode in chosen)]
    return Modes(Chain(authorizers), [run for mode in chosen for run in mode.runs])


def _mode(mode: str, storage_for: StorageFor) -> Modes:
    match mode:
        case "AlwaysAllow":
            return Modes(AlwaysAllow())
        case "RBAC":
            feed = RBACFeed(storage_for)
            return Modes(RBAC(feed), (feed.run,))
        case "Node":
            node = Node(storage_for)
            return Modes(node, (node.run,))
        case _:
            return Modes(AlwaysDeny())

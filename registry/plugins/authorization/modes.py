"""Modes: the Authorizer that the flags ask for, with what must run for it to know what it decides on."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.generic.access.always import AlwaysAllow, AlwaysDeny, PrivilegedGroup
from aio_apiserver.registry.generic.access.authorizer import Authorizer, Link
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.plugins.authorization.authorization_metrics import AuthorizationMetrics
from aio_apiserver.registry.plugins.authorization.node import Node
from aio_apiserver.registry.plugins.authorization.rbac import RBAC
from aio_apiserver.registry.plugins.authorization.rbac_feed import RBACFeed
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.measures import Counter

Run = Callable[[Clock], Coroutine[Any, Any, None]]
"""Background work that ends when it is cancelled."""


Settle = Callable[[], Awaitable[None]]


async def _at_once() -> None:
    """The Settle of modes that follow nothing."""


class Modes(Struct, frozen=True):
    """An Authorizer of a type, by its name, and its background work. `settle`: until all that is stored now counts."""

    type: str
    name: str
    authorizer: Authorizer
    runs: Sequence[Run] = ()
    settle: Settle = _at_once


def own(mode: str, storage_for: ReaderFor, name: str = "") -> Modes:
    """A mode that needs nothing but the server itself. `name` is its own in lower case unless a file names it."""
    named = name or mode.lower()
    match mode:
        case "AlwaysAllow":
            return Modes(mode, named, AlwaysAllow())
        case "AlwaysDeny":
            return Modes(mode, named, AlwaysDeny())
        case "RBAC":
            feed = RBACFeed(storage_for)
            return Modes(mode, named, RBAC(feed), (feed.run,), feed.wait_until_seen)
        case "Node":
            node = Node(storage_for)
            return Modes(mode, named, node, (node.run,))
        case _:
            raise ValueError(f"{mode} needs a configuration")


def in_order(modes: Sequence[Modes], metrics: AuthorizationMetrics) -> Sequence[Link]:
    """The modes' authorizers, behind the right of administrators to everything, which is counted nowhere."""
    links = [metrics.link(mode.authorizer, mode.type, mode.name) for mode in modes]
    return [Link(PrivilegedGroup(), Counter(), Counter()), *links]

"""Modes: builds the authorizers of --authorization-mode, with the background work that they need."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.measures import Counter
from aio_apiserver.registry.base.timeline import Version
from aio_apiserver.registry.generic.access.always import AlwaysAllow, AlwaysDeny, PrivilegedGroup
from aio_apiserver.registry.generic.access.authorizer import Authorizer, Link
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.plugins.authorization.authorization_metrics import AuthorizationMetrics
from aio_apiserver.registry.plugins.authorization.node import NodeAuthorizer
from aio_apiserver.registry.plugins.authorization.rbac import RBAC
from aio_apiserver.registry.plugins.authorization.rbac_feed import RBACFeed

Run = Callable[[Clock], Coroutine[Any, Any, None]]
"""Background work that runs until it is cancelled."""


_NAMES_SINCE = (1, 37)
"""The minor since which a reason begins with the name of its authorizer."""
Settle = Callable[[], Awaitable[None]]


async def _at_once() -> None:
    """The `settle` of modes without a watch."""


class Modes(Struct, frozen=True):
    """An authorizer with its type and name, and its background work. `settle`: wait until all stored objects count."""

    type: str
    name: str
    authorizer: Authorizer
    runs: Sequence[Run] = ()
    settle: Settle = _at_once


def own(mode: str, storage_for: ReaderFor, name: str = "") -> Modes:
    """A mode without a configuration of its own. Its name is the mode in lower case, unless a file names it."""
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
            node = NodeAuthorizer(storage_for)
            return Modes(mode, named, node, (node.run,))
        case _:
            raise ValueError(f"{mode} needs a configuration")


def in_order(modes: Sequence[Modes], metrics: AuthorizationMetrics, version: Version) -> Sequence[Link]:
    """The authorizers in order. The first one allows system:masters everything, without metrics."""
    links = [metrics.link(mode.authorizer, mode.type, mode.name) for mode in modes]
    if version >= _NAMES_SINCE:
        links = [link._replace(name=mode.name) for link, mode in zip(links, modes, strict=True)]
    return [Link(PrivilegedGroup(), Counter(), Counter()), *links]

"""Servers overrides: resources that live on an etcd of their own (--etcd-servers-overrides).

Pure. The grammar is kube-apiserver's: group/resource#servers, where servers are URLs with semicolons between them,
the core group is empty, and the resource * means the whole group: "/events#https://a:2379;https://b:2379".
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from aio_apiserver.storage.errors import InvalidOptions

_INVALID = (
    "--etcd-servers-overrides invalid, must be of format: group/resource#servers, "
    "where servers are URLs, semicolon separated"
)
_WHOLE_GROUP = "*"


class ServersOverride(Struct, frozen=True):
    """Where the objects of one resource, or of a whole group, are kept instead."""

    group: str
    resource: str
    servers: tuple[str, ...]


def parse(text: str) -> ServersOverride:
    """One override. Raises InvalidOptions."""
    what, *where = text.split("#")
    names = what.split("/")
    if len(where) != 1 or len(names) != 2:
        raise InvalidOptions(_INVALID)
    servers = tuple(where[0].split(";"))
    if not all(servers):
        raise InvalidOptions(_INVALID)
    return ServersOverride(names[0], names[1], servers)


def servers_of(overrides: Sequence[ServersOverride], group: str, resource: str) -> tuple[str, ...]:
    """The servers of a resource: its own, else its group's, of several the last; none when it has no override."""
    for name in (resource, _WHOLE_GROUP):
        found = [override.servers for override in overrides if (override.group, override.resource) == (group, name)]
        if found:
            return found[-1]
    return ()


def distinct(overrides: Iterable[ServersOverride]) -> list[tuple[str, ...]]:
    """The server lists that differ in more than their order, in the order in which they come up."""
    by_members: dict[frozenset[str], tuple[str, ...]] = {}
    for override in overrides:
        by_members.setdefault(frozenset(override.servers), override.servers)
    return list(by_members.values())

"""Node: the authorization mode Node for kubelets. It allows or has no opinion, and answers for members of system:nodes.

A kubelet is the user system:node:<name>. It may read what the pods on its node refer to, and write its own objects.
Further rules are the same for all nodes.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial

from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.authorizer import ALLOWED, NO_OPINION, Attributes, Decision, Rules
from aio_apiserver.registry.generic.access.users import NODES, UserInfo
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.volumes.persistentvolumes import PERSISTENTVOLUMES
from aio_apiserver.registry.groups.rbac import policy_rules
from aio_apiserver.registry.groups.resource.resourceslices import RESOURCESLICES
from aio_apiserver.registry.groups.storage.volumeattachments import VOLUMEATTACHMENTS
from aio_apiserver.registry.plugins.authorization.first_lists import FirstLists
from aio_apiserver.registry.plugins.authorization.node_graph import (
    NodeGraph,
    Reach,
    Vertex,
    reach_of_named,
    reach_of_pod,
    reach_of_volume,
)
from aio_apiserver.registry.plugins.authorization.node_rules import BY_RESOURCE, RULES, no
from aio_apiserver.storage.stored_object import StoredObject

_PREFIX = "system:node:"


def _read_pod(stored: StoredObject) -> Reach | None:
    return reach_of_pod(stored.decode())


def _read_volume(stored: StoredObject) -> Reach | None:
    return reach_of_volume(stored.decode())


def _read_attachment(stored: StoredObject) -> Reach | None:
    return reach_of_named(VOLUMEATTACHMENTS.plural, stored.decode())


def _read_slice(stored: StoredObject) -> Reach | None:
    return reach_of_named(RESOURCESLICES.plural, stored.decode())


_FOLLOWED: Sequence[tuple[Kind, Callable[[StoredObject], Reach | None]]] = (
    (PODS, _read_pod),
    (PERSISTENTVOLUMES, _read_volume),
    (VOLUMEATTACHMENTS, _read_attachment),
    (RESOURCESLICES, _read_slice),
)


class NodeAuthorizer:
    """The authorization mode Node, on objects from watches."""

    def __init__(self, storage_for: ReaderFor) -> None:
        self._graph = NodeGraph()
        self._lists = FirstLists("the objects of nodes")
        self._followings = [
            Following(storage_for(resource_of(kind)), read, partial(self._note, place))
            for place, (kind, read) in enumerate(_FOLLOWED)
        ]

    def _note(self, place: int, keys: Collection[str]) -> None:
        items, resource = self._followings[place].items, _FOLLOWED[place][0].plural
        for key in keys:
            namespace, _, name = key.rpartition("/")
            self._graph.put(Vertex(resource, namespace, name), items.get(key))

    async def run(self, clock: Clock) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for following in self._followings:
                tasks.create_task(following.run(clock))
            for following in self._followings:
                await following.wait_until_current()
            self._lists.complete()

    async def authorize(self, attributes: Attributes) -> Decision:
        user = attributes.user
        if NODES not in user.groups or not user.name.startswith(_PREFIX):
            return NO_OPINION
        node = user.name.removeprefix(_PREFIX)
        if not node:
            return no(f"unknown node for user {quote(user.name)}")
        decide = BY_RESOURCE.get((attributes.group, attributes.resource)) if attributes.is_resource else None
        if decide is not None:
            await self._lists.wait()
            return decide(self._related, node, attributes)
        return ALLOWED if policy_rules.allow(RULES, attributes) else NO_OPINION

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        if NODES in user.groups and user.name.startswith(_PREFIX):
            return Rules(is_incomplete=True, errors=("node authorizer does not support user rule resolution",))
        return Rules()

    def _related(self, node: str, question: Attributes) -> Decision:
        """Whether the graph relates the object to the node."""
        if not question.name:
            return no("No Object name found")
        if self._graph.sees(node, Vertex(question.resource, question.namespace, question.name)):
            return ALLOWED
        return no(f"no relationship found between node '{node}' and this object")

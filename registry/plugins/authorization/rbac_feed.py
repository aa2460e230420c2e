"""RBAC feed: keeps an RBACPolicy current from watches on roles and bindings.

Must hold: replacing a role leaves no moment without it. The first lists are complete when all four kinds have been
listed.
"""

import asyncio
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.groups.rbac.bindings import CLUSTERROLEBINDINGS, ROLEBINDINGS
from aio_apiserver.registry.groups.rbac.clusterroles import CLUSTERROLES
from aio_apiserver.registry.groups.rbac.policy import RBACBinding, RBACPolicy, RoleKey, binding_of, role_of
from aio_apiserver.registry.groups.rbac.policy_rules import PolicyRule
from aio_apiserver.registry.groups.rbac.roles import ROLES
from aio_apiserver.registry.plugins.authorization.first_lists import FirstLists
from aio_apiserver.storage.interface import ListOptions
from aio_apiserver.storage.stored_object import StoredObject

_Rules = tuple[PolicyRule, ...]
_ROLES = CLUSTERROLES, ROLES
_BINDINGS = CLUSTERROLEBINDINGS, ROLEBINDINGS


class RBACFeed:
    """Watches the four kinds."""

    def __init__(self, storage_for: ReaderFor) -> None:
        self.policy = RBACPolicy()
        self.lists = FirstLists("roles and bindings")
        self._storages = [storage_for(resource_of(kind)) for kind in (*_ROLES, *_BINDINGS)]
        self._roles = [
            Following(storage_for(resource_of(kind)), _read_role, partial(self._note_roles, place))
            for place, kind in enumerate(_ROLES)
        ]
        self._bindings = [
            Following(storage_for(resource_of(kind)), _read_binding, partial(self._note_bindings, place))
            for place, kind in enumerate(_BINDINGS)
        ]

    async def run(self, clock: Clock) -> None:
        """Watch until cancelled."""
        followings: Sequence[Following[Any]] = [*self._roles, *self._bindings]
        async with asyncio.TaskGroup() as tasks:
            for following in followings:
                tasks.create_task(following.run(clock))
            for following in followings:
                await following.wait_until_current()
            self.lists.complete()

    async def wait_until_seen(self) -> None:
        """Wait until all objects that are stored now are in the policy. Raises StorageError."""
        followings: Sequence[Following[Any]] = [*self._roles, *self._bindings]
        for following, storage in zip(followings, self._storages, strict=True):
            while True:
                changed = following.next_change()
                stored = await storage.get_list("", ListOptions())
                if all(one.key in following.items for one in stored.items):
                    break
                await changed

    def _note_roles(self, place: int, keys: Collection[str]) -> None:
        items = self._roles[place].items
        for key in keys:
            namespace, _, name = key.rpartition("/")
            self.policy.put_role(RoleKey.at(namespace, name), items.get(key))

    def _note_bindings(self, place: int, keys: Collection[str]) -> None:
        items = self._bindings[place].items
        for key in keys:
            namespace, _, name = key.rpartition("/")
            self.policy.put_binding(namespace, name, items.get(key))


def _read_role(stored: StoredObject) -> _Rules:
    return role_of(stored.decode())


def _read_binding(stored: StoredObject) -> RBACBinding:
    return binding_of(stored.decode())

"""Manager: the life of all controllers of a server, from when it is ready until it stops.

Must hold: on several servers only one runs them, for which each kind of work has a lease; when `close` returns nothing
of them is left.
"""

import asyncio
import socket
import uuid
from collections.abc import Sequence

from apiserver.controllers import names
from apiserver.controllers.catalog import CONTROLLERS
from apiserver.controllers.client import Client
from apiserver.controllers.controller import MANAGER, Desk
from apiserver.controllers.election import Election
from apiserver.controllers.informers import Informers
from apiserver.handlers.served import ServedPaths
from registry.access.users import UserInfo, authenticated
from storage.clock import Clock
from storage.tasks import Tasks

_USER = UserInfo(name="system:kube-controller-manager")


class Manager:
    """Of one server."""

    def __init__(self, given: Sequence[str], served: ServedPaths, clock: Clock, *, authority: str) -> None:
        self._names = names.enabled(given)
        self._served = served
        self._clock = clock
        self._authority = authority
        self._tasks = Tasks()

    def start(self) -> None:
        """Lead as soon as nobody else does."""
        client = Client(self._served, lambda _place, _key, _revision: None, authenticated(_USER), MANAGER)
        identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        election = Election(client, self._clock, name=MANAGER, identity=identity)
        self._tasks.spawn(election.run(self._lead), name="controllers")

    async def close(self) -> None:
        await self._tasks.close()

    async def _lead(self) -> None:
        """Run all until cancelled."""
        informers = Informers(self._served, self._clock)
        client = Client(self._served, informers.expect, authenticated(_USER), MANAGER)
        desk = Desk(client, informers, self._clock, self._authority)
        try:
            async with asyncio.TaskGroup() as group:
                for name in self._names:
                    group.create_task(CONTROLLERS[name](desk).run(), name=name)
        finally:
            await informers.close()

"""Flow control with the objects of a new server, and requests of many users."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.measures import Counter, Tally
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, MASTERS, UserInfo
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.flowcontrol import builtin_objects
from aio_apiserver.registry.groups.flowcontrol.flowschemas import FLOWSCHEMAS
from aio_apiserver.registry.groups.flowcontrol.prioritylevelconfigurations import PRIORITYLEVELCONFIGURATIONS
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.flow_metrics import FlowMetrics
from aio_apiserver.registry.plugins.flowcontrol.lanes import ClassifiedRequest
from aio_apiserver.registry.plugins.flowcontrol.tickets import ONE_SEAT, Ticket, Work
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory

JANE = UserInfo(name="jane", groups=(ALL_AUTHENTICATED,))
EVE = UserInfo(name="eve", groups=(ALL_AUTHENTICATED,))
BOB = UserInfo(name="bob", groups=(ALL_AUTHENTICATED,))
CARL = UserInfo(name="carl", groups=(ALL_AUTHENTICATED,))
NODE = UserInfo(name="system:node:n1", groups=("system:nodes", ALL_AUTHENTICATED))
SCHEDULER = UserInfo(name="system:kube-scheduler", groups=(ALL_AUTHENTICATED,))
ROBOT = UserInfo(name="system:serviceaccount:default:robot", groups=("system:serviceaccounts", ALL_AUTHENTICATED))
ADMINISTRATOR = UserInfo(name="admin", groups=(MASTERS, ALL_AUTHENTICATED))
ANONYMOUS = UserInfo(name="system:anonymous", groups=(ALL_UNAUTHENTICATED,))

GET_PODS: ClassifiedRequest = ("get", "", "", "default", "pods", "")
LIST_PODS: ClassifiedRequest = ("list", "", "", "default", "pods", "")
CREATE_PODS: ClassifiedRequest = ("create", "", "", "default", "pods", "")
RENEW: ClassifiedRequest = ("update", "", "coordination.k8s.io", "kube-node-lease", "leases", "")
ELECT: ClassifiedRequest = ("update", "", "coordination.k8s.io", "kube-system", "leases", "")


class Served:
    """The flow control of one server. The test moves `clock`."""

    def __init__(self, fairness: Fairness, clock: ManualClock) -> None:
        self.fairness = fairness
        self.clock = clock
        self.lane = fairness.lane_of(JANE, GET_PODS)

    def ticket(self, work: Work = ONE_SEAT) -> Ticket:
        return Ticket(self.lane, work, self.clock.monotonic())

    def enter(self, work: Work = ONE_SEAT) -> Ticket:
        ticket = self.ticket(work)
        assert self.fairness.enter(ticket)
        return ticket

    def arrive(self, user: UserInfo, request: ClassifiedRequest, count: int, work: Work = ONE_SEAT) -> list[Ticket]:
        """Requests of a user that come in one turn of the event loop. Those that are refused are left out."""
        lane = self.fairness.lane_of(user, request)
        tickets = [Ticket(lane, work, self.clock.monotonic()) for _ in range(count)]
        return [ticket for ticket in tickets if self.fairness.enter(ticket)]

    def counted(self, tally: Tally[Counter]) -> dict[tuple[str, ...], float]:
        """Counters or gauges by their labels."""
        return {labels: series.value for labels, series in tally.series.items()}

    @property
    def metrics(self) -> FlowMetrics:
        return self.fairness.metrics


@asynccontextmanager
async def serving(*, seats: int) -> AsyncIterator[Served]:
    """The flow control of a new server that has so many seats."""
    clock, tasks = ManualClock(), Tasks()
    async with StorageFactory(StorageConfig(), clock=clock) as factory:
        for kind, objects in (
            (FLOWSCHEMAS, builtin_objects.flow_schemas()),
            (PRIORITYLEVELCONFIGURATIONS, builtin_objects.priority_levels()),
        ):
            for obj in objects:
                obj["metadata"]["uid"] = f"uid of {obj['metadata']['name']}"
                await factory.storage_for(resource_of(kind)).create(obj["metadata"]["name"], obj)
        fairness = Fairness(factory.storage_for, clock, seats=seats, sizes_of=lambda _group, _resource: None)
        tasks.spawn(fairness.run(clock), name="fairness")
        while fairness.lane_of(JANE, GET_PODS).flow is None:
            await fairness.changed.wait()
            fairness.changed.clear()
        yield Served(fairness, clock)
        await tasks.close()
        await fairness.close()


async def a_turn() -> None:
    """One turn of the event loop."""
    await asyncio.sleep(0)


async def turns_until_begun(groups: Sequence[Sequence[Ticket]]) -> list[tuple[int, ...]]:
    """For each turn of the event loop until all have begun: how many requests of each group had."""
    turns = [_begun(groups)]
    while turns[-1] != tuple(map(len, groups)):
        await a_turn()
        turns.append(_begun(groups))
    return turns


def _begun(groups: Sequence[Sequence[Ticket]]) -> tuple[int, ...]:
    return tuple(sum(ticket.is_begun for ticket in group) for group in groups)

"""A priority level whose queues tests fill."""

import asyncio

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.plugins.flowcontrol.alarms import Alarms
from aio_apiserver.registry.plugins.flowcontrol.flow_metrics import FlowMetrics
from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane
from aio_apiserver.registry.plugins.flowcontrol.priority_level import LevelConfig, PriorityLevel
from aio_apiserver.registry.plugins.flowcontrol.queue_set import QueueSet, Queuing, Refusal
from aio_apiserver.registry.plugins.flowcontrol.tickets import ONE_SEAT, Ticket, Work

MILLISECOND = 0.001


class Line:
    """One level with so many seats. `lane(n)` is a flow that uses queue n alone."""

    def __init__(
        self, seats: int, *, queues: int = 4, hand_size: int = 1, length: int = 50, is_exempt: bool = False
    ) -> None:
        self.clock = ManualClock()
        self.alarms = Alarms(self.clock)
        self.queues = QueueSet(self.alarms, self.clock.monotonic(), is_exempt=is_exempt)
        queuing = Queuing(queues, hand_size, length) if queues else None
        config = LevelConfig(name="level", uid="l", shares=1, lendable_percent=0, queuing=queuing, is_exempt=is_exempt)
        self.level = PriorityLevel(config, self.queues)
        self.queues.configure(queuing, seats, self.clock.monotonic())
        self.metrics = FlowMetrics()
        self.entered: list[Ticket] = []
        """The requests that have not ended."""

    def lane(self, *numbers: int) -> Lane:
        hand = [self.queues.queue(number) for number in numbers]
        return Lane("schema", "", self.level, hand, self.metrics.of("level", "schema"), None, 0)

    def ticket(self, *numbers: int, work: Work = ONE_SEAT) -> Ticket:
        return Ticket(self.lane(*numbers), work, self.clock.monotonic())

    def enter(self, *numbers: int, work: Work = ONE_SEAT) -> Ticket:
        ticket = self.ticket(*numbers, work=work)
        assert self.refusal(ticket) is None
        self.entered.append(ticket)
        return ticket

    def refusal(self, ticket: Ticket) -> Refusal | None:
        return self.queues.enter(ticket, self.clock.monotonic())

    def leave(self, ticket: Ticket) -> None:
        self.entered.remove(ticket)
        self.queues.leave(ticket, self.clock.monotonic())

    def serve(self, count: int, *, seconds: float) -> list[Ticket]:
        """Execute the next requests one after the other, each for some time."""
        served = []
        for _ in range(count):
            ticket = next(one for one in self.entered if one.is_begun)
            self.clock.advance(seconds)
            self.leave(ticket)
            served.append(ticket)
        return served


async def some_turns() -> None:
    """Let other tasks run."""
    for _ in range(5):
        await asyncio.sleep(0)

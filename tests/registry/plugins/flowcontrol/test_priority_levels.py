import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.groups.flowcontrol import builtin_objects
from aio_apiserver.registry.plugins.flowcontrol.alarms import Alarms
from aio_apiserver.registry.plugins.flowcontrol.flow_metrics import FlowMetrics
from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane
from aio_apiserver.registry.plugins.flowcontrol.priority_level import LevelConfig, read
from aio_apiserver.registry.plugins.flowcontrol.priority_levels import PriorityLevels
from aio_apiserver.registry.plugins.flowcontrol.queue_set import Queuing
from aio_apiserver.registry.plugins.flowcontrol.tickets import ONE_SEAT, Ticket, Work


def fresh(clock: ManualClock) -> PriorityLevels:
    """The levels of a new server with 600 seats."""
    levels = PriorityLevels(clock, Alarms(clock), 600)
    levels.configure(filter(None, map(read, builtin_objects.priority_levels())))
    return levels


def config(name: str, shares: int, *, lends: int = 0, borrows: int | None = None) -> LevelConfig:
    queuing = Queuing(8, 2, 10)
    return LevelConfig(
        name=name, uid=name, shares=shares, lendable_percent=lends, borrowing_percent=borrows, queuing=queuing
    )


def enter(levels: PriorityLevels, name: str, work: Work = ONE_SEAT) -> Ticket:
    level = levels.by_name[name]
    lane = Lane("s", "", level, level.hand("s", ""), FlowMetrics().of(name, "s"), None, 0)
    ticket = Ticket(lane, work, 0.0)
    level.queues.enter(ticket, levels._clock.monotonic())
    return ticket


def test_seats_are_shared_as_kube_apiserver_shares_them() -> None:
    levels = fresh(ManualClock())

    limits = {name: (one.nominal, one.lower, one.upper) for name, one in levels.by_name.items()}

    assert limits == {
        "exempt": (0, 0, 600),
        "catch-all": (13, 13, 613),
        "global-default": (49, 24, 649),
        "leader-election": (25, 25, 625),
        "node-high": (98, 73, 698),
        "system": (74, 50, 674),
        "workload-high": (98, 49, 698),
        "workload-low": (245, 24, 845),
    }
    assert sum(one.limit for one in levels.by_name.values()) == pytest.approx(levels.nominal_seats, abs=4)


def test_the_mandatory_levels_are_there_without_objects() -> None:
    levels = PriorityLevels(ManualClock(), Alarms(ManualClock()), 600)

    assert set(levels.by_name) == {"exempt", "catch-all"}
    assert enter(levels, "catch-all").is_begun
    assert enter(levels, "exempt").is_begun


async def test_what_one_level_does_not_use_another_one_borrows() -> None:
    clock = ManualClock()
    levels = PriorityLevels(clock, Alarms(clock), 100)
    levels.configure([config("busy", 1), config("idle", 1, lends=50), config("miser", 1)])
    for _ in range(200):
        enter(levels, "busy")
    clock.advance(10)

    levels.adjust()

    busy, idle, miser = (levels.by_name[name] for name in ("busy", "idle", "miser"))
    assert busy.limit > busy.nominal
    assert idle.lower <= idle.limit < idle.nominal
    assert miser.limit == miser.nominal
    assert busy.queues.executing == busy.limit


async def test_no_level_borrows_more_than_its_limit() -> None:
    clock = ManualClock()
    levels = PriorityLevels(clock, Alarms(clock), 100)
    levels.configure([config("busy", 1, borrows=10), config("idle", 1, lends=100)])
    for _ in range(200):
        enter(levels, "busy")
    clock.advance(10)

    levels.adjust()

    busy = levels.by_name["busy"]
    assert busy.limit == busy.upper < 100


async def test_a_level_whose_object_is_gone_goes_when_it_is_idle() -> None:
    clock = ManualClock()
    levels = PriorityLevels(clock, Alarms(clock), 100)
    levels.configure([config("gone", 1)])
    ticket = enter(levels, "gone")

    levels.configure([])
    assert levels.by_name["gone"].is_leaving
    levels.by_name["gone"].queues.leave(ticket, clock.monotonic())
    levels.adjust()

    assert "gone" not in levels.by_name


def test_a_level_that_contradicts_itself_is_none() -> None:
    exempt, *limited = builtin_objects.priority_levels()
    exempt["metadata"]["name"] = "other"
    limited[0]["spec"]["limited"]["limitResponse"] = {"type": "Queue"}
    limited[1]["spec"]["type"] = "Exempt"

    assert [read(one) for one in (exempt, limited[0], limited[1])] == [None, None, None]

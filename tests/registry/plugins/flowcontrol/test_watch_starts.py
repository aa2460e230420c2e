from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.plugins.flowcontrol.watch_starts import WatchStarts


def test_a_user_may_begin_a_burst_of_watches_and_then_some_each_second() -> None:
    clock = ManualClock()
    starts = WatchStarts(clock, burst=10, per_second=2)

    burst = [starts.begin("jane") for _ in range(12)]
    clock.advance(1)
    later = [starts.begin("jane") for _ in range(3)]

    assert burst == [0] * 10 + [1, 1]
    assert later == [0, 0, 1]
    assert starts.refused == 3


def test_each_user_has_a_budget() -> None:
    starts = WatchStarts(ManualClock(), burst=1, per_second=1)

    assert [starts.begin(user) for user in ("jane", "jane", "joe")] == [0, 1, 0]

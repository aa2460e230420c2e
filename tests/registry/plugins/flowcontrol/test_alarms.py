from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.plugins.flowcontrol.alarms import Alarms
from tests.registry.plugins.flowcontrol.lines import some_turns


async def test_calls_are_made_in_the_order_of_their_times() -> None:
    clock, made = ManualClock(), list[str]()
    alarms = Alarms(clock)
    alarms.at(3, lambda: made.append("last"))
    await some_turns()
    alarms.at(1, lambda: made.append("first"))
    taken = alarms.at(2, lambda: made.append("never"))
    await some_turns()

    alarms.take_back(taken)
    for _ in range(3):
        clock.advance(1)
        await some_turns()

    assert made == ["first", "last"]
    await alarms.close()


async def test_what_was_taken_back_does_not_pile_up() -> None:
    clock = ManualClock()
    alarms = Alarms(clock)

    for number in range(10_000):
        alarms.take_back(alarms.at(number + 1.0, lambda: None))

    assert len(alarms._heap) < 200
    await alarms.close()

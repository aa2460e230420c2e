"""Turns of simulated processes: one at a time, and the groups one after the other."""

import asyncio

from aio_apiserver.simulation.containers.turns import Turns


async def test_groups_have_their_turns_one_after_the_other() -> None:
    turns, order = Turns(), list[str]()
    names = ["a1", "a2", "a3", "b1", "c1"]

    await asyncio.gather(*(turns.run(name[0], lambda name=name: order.append(name)) for name in names))  # type: ignore[misc]

    assert order == ["a1", "a2", "b1", "c1", "a3"]
    assert turns.statistics() == {}


async def test_a_process_that_leaves_while_it_waits_holds_up_no_other() -> None:
    turns, order = Turns(), list[str]()
    begun = asyncio.Event()
    first = asyncio.ensure_future(turns.run("a", begun.set))
    waiting = [asyncio.ensure_future(turns.run(name, lambda name=name: order.append(name))) for name in "bcd"]  # type: ignore[misc]
    await begun.wait()
    waiting[0].cancel()
    await first
    waiting[1].cancel()  # its turn may have been given to it

    await asyncio.gather(*waiting, return_exceptions=True)

    assert order == ["d"]


async def test_a_turn_that_fails_is_passed_on() -> None:
    turns = Turns()

    failed = await asyncio.gather(turns.run("a", lambda: 1 / 0), return_exceptions=True)

    assert isinstance(failed[0], ZeroDivisionError)
    assert await turns.run("b", lambda: 1) == 1


async def test_after_a_long_turn_the_event_loop_is_left_to_others() -> None:
    turns, loop, order = Turns(), asyncio.get_running_loop(), list[str]()

    def work() -> None:
        until = loop.time() + 0.02
        while loop.time() < until:
            pass
        order.append("work")

    loop.call_later(0.03, order.append, "another client")
    await turns.run("a", work)
    await turns.run("a", lambda: order.append("more work"))

    assert order == ["work", "another client", "more work"]

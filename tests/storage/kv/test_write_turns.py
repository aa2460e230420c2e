"""WriteTurns: reads pass writes, also while they ask the store, and writes still begin, in their order."""

import asyncio
from itertools import pairwise

from aio_apiserver.storage.kv.write_turns import WriteTurns


class Begun:
    """Begins writes, and notes which of them have begun. Writes that are held back wait for a minute."""

    def __init__(self) -> None:
        self.turns = WriteTurns(held_seconds=60)
        self.names: list[int] = []

    def read(self, count: int = 1) -> None:
        self.turns.reads += count
        self.turns.read_at = 0.0

    def write(self, name: int, *, now: float = 0.0) -> "asyncio.Future[None] | None":
        return self._noted(name, self.turns.begin_write(now))

    def confirm(self, name: int) -> None:
        self._noted(name, self.turns.go_on(0.0))

    def _noted(self, name: int, turn: "asyncio.Future[None] | None") -> "asyncio.Future[None] | None":
        if turn is None:
            self.names.append(name)
        else:
            turn.add_done_callback(lambda turn: None if turn.cancelled() else self.names.append(name))
        return turn


async def a_turn() -> None:
    """The writes of one turn of the event loop begin in it."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def test_one_write_begins_in_a_turn_of_the_loop_while_the_server_has_reads() -> None:
    begun = Begun()
    begun.read()
    seen = []

    for name in range(3):
        begun.write(name)
    for _ in range(3):
        seen.append(list(begun.names))
        await a_turn()

    assert seen == [[0], [0, 1], [0, 1, 2]]


async def test_all_writes_begin_at_once_without_reads() -> None:
    begun = Begun()
    begun.read()

    for name in range(3):
        begun.write(name, now=1.0)

    assert begun.names == [0, 1, 2]


async def test_waiting_writes_begin_at_once_when_the_reads_have_ended() -> None:
    begun = Begun()
    begun.read()

    for name in range(4):
        begun.write(name)
    begun.write(4, now=1.0)
    await a_turn()

    assert begun.names == [0, 1, 2, 3, 4]


async def test_writes_begin_in_proportion_to_many_reads() -> None:
    begun = Begun()
    begun.read(8)

    for name in range(6):
        begun.write(name)
    await a_turn()

    assert begun.names == [0, 1, 2, 3]


async def test_a_write_whose_client_has_gone_gives_its_turn_to_the_next_one() -> None:
    begun = Begun()
    begun.read()
    begun.write(0)
    gone = begun.write(1)
    begun.write(2)

    assert gone is not None
    gone.cancel()
    await a_turn()

    assert begun.names == [0, 2]


async def test_a_write_behind_the_last_turn_begins_at_once() -> None:
    begun = Begun()
    begun.read()
    begun.write(0)
    await asyncio.sleep(0)

    begun.write(1)

    assert begun.names == [0, 1]


async def test_a_write_that_comes_in_the_turn_of_the_last_one_that_waited_has_the_next_turn() -> None:
    begun = Begun()
    begun.read()
    begun.write(0)
    begun.write(1)
    while begun.names != [0, 1]:  # noqa: ASYNC110 - a turn of the loop at a time; the other waited, and goes on now
        await asyncio.sleep(0)

    turn = begun.write(2)
    waited = turn is not None and not turn.done()
    await a_turn()

    assert waited
    assert begun.names == [0, 1, 2]


async def test_one_confirmed_write_goes_on_in_a_turn_before_new_ones_begin() -> None:
    begun = Begun()
    begun.read()
    counts = []

    for name in range(2):
        begun.write(name)
    for name in range(10, 13):
        begun.confirm(name)
    for _ in range(10):
        counts.append(len(begun.names))
        await asyncio.sleep(0)

    assert begun.names == [0, 10, 11, 12, 1]
    assert counts[0] == 1
    assert {later - earlier for earlier, later in pairwise(counts)} == {0, 1}


async def test_confirmed_writes_go_on_at_once_without_reads() -> None:
    turns = WriteTurns()

    assert [turns.go_on(now=1.0) for _ in range(3)] == [None, None, None]


async def test_new_writes_wait_for_the_answer_to_a_question() -> None:
    begun = Begun()
    begun.read()
    begun.write(0)
    begun.write(1)

    begun.turns.ask(0.0)
    begun.write(2)
    begun.confirm(3)
    begun.confirm(4)
    for _ in range(5):
        await a_turn()
    meanwhile = list(begun.names)
    begun.turns.answered(0.1)
    for _ in range(5):
        await a_turn()

    assert meanwhile == [0, 3, 4]
    assert begun.names == [0, 3, 4, 1, 2]


async def test_writes_go_on_when_the_answer_does_not_come() -> None:
    turns = WriteTurns()
    turns.reads = 1
    turns.read_at = 0.0
    turns.ask(0.0)

    waiting = [turns.begin_write(0.0), turns.begin_write(0.0)]
    async with asyncio.timeout(20):
        await asyncio.gather(*filter(None, waiting))

    assert None not in waiting


async def test_writes_that_wait_for_their_turn_go_on_when_an_answer_does_not_come() -> None:
    turns = WriteTurns()
    turns.reads = 1
    turns.read_at = 0.0

    first, second = turns.begin_write(0.0), turns.begin_write(0.0)
    turns.ask(0.0)

    assert first is None
    assert second is not None
    async with asyncio.timeout(20):
        await second


async def test_questions_hold_writes_back_for_half_of_the_time_at_most() -> None:
    begun = Begun()
    begun.read()
    seen: list[list[int]] = []

    for asked in (0.1, 0.3, 0.5):
        begun.turns.ask(asked)
        begun.write(len(seen), now=asked)
        seen.append(list(begun.names))
        begun.turns.answered(asked + 0.15)
        await a_turn()
        await asyncio.sleep(0)  # the turn in which a write has gone on ends

    assert seen == [[], [0, 1], [0, 1]]


async def test_a_question_beside_another_one_holds_writes_back_no_longer() -> None:
    begun = Begun()
    begun.read()
    begun.turns.ask(0.1)
    begun.turns.ask(0.2)
    begun.write(0)

    begun.turns.answered(0.3)
    await a_turn()
    meanwhile = list(begun.names)
    begun.turns.answered(0.4)
    begun.turns.ask(0.5)
    await a_turn()

    assert meanwhile == []
    assert begun.names == [0]


async def test_questions_hold_no_writes_back_without_reads() -> None:
    begun = Begun()

    begun.turns.ask(1.0)
    begun.write(0, now=1.0)

    assert begun.names == [0]

"""WriteTurns: reads pass writes, and writes still begin, in their order."""

import asyncio

from aio_apiserver.apiserver.filters.write_turns import WriteTurns


class Begun:
    """Begins writes, and notes which of them have begun."""

    def __init__(self) -> None:
        self.turns = WriteTurns()
        self.names: list[int] = []

    def read(self, count: int = 1) -> None:
        self.turns.reads += count
        self.turns.read_at = 0.0

    def write(self, name: int, *, now: float = 0.0) -> "asyncio.Future[None] | None":
        turn = self.turns.begin_write(now)
        if turn is None:
            self.names.append(name)
        else:
            turn.add_done_callback(lambda turn: None if turn.cancelled() else self.names.append(name))
        return turn


async def test_one_write_begins_in_a_turn_of_the_loop_while_the_server_has_reads() -> None:
    begun = Begun()
    begun.read()
    seen = []

    for name in range(3):
        begun.write(name)
    for _ in range(3):
        seen.append(list(begun.names))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

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
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert begun.names == [0, 1, 2, 3, 4]


async def test_writes_begin_in_proportion_to_many_reads() -> None:
    begun = Begun()
    begun.read(8)

    for name in range(6):
        begun.write(name)
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert begun.names == [0, 1, 2, 3]


async def test_a_write_whose_client_has_gone_gives_its_turn_to_the_next_one() -> None:
    begun = Begun()
    begun.read()
    begun.write(0)
    gone = begun.write(1)
    begun.write(2)

    assert gone is not None
    gone.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert begun.names == [0, 2]


async def test_a_write_behind_the_last_turn_begins_at_once() -> None:
    begun = Begun()
    begun.read()
    begun.write(0)
    await asyncio.sleep(0)

    begun.write(1)

    assert begun.names == [0, 1]

import asyncio

from aio_apiserver.apiserver.handlers.turns import AT_ONCE, in_turns


async def test_others_have_their_turn_in_a_long_loop() -> None:
    seen = 0

    async def loop() -> None:
        nonlocal seen
        async for item in in_turns(range(AT_ONCE + 1)):
            assert item == seen
            seen += 1

    task = asyncio.create_task(loop())
    await asyncio.sleep(0)
    seen_so_far = seen
    await task

    assert seen_so_far == AT_ONCE
    assert seen == AT_ONCE + 1

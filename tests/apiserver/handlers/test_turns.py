import asyncio

from apiserver.handlers.turns import AT_ONCE, in_turns


async def test_others_have_their_turn_in_a_long_loop() -> None:
    seen: list[int] = []

    async def loop() -> None:
        async for item in in_turns(range(AT_ONCE + 1)):
            seen.append(item)

    task = asyncio.create_task(loop())
    await asyncio.sleep(0)
    so_far = len(seen)
    await task

    assert so_far == AT_ONCE
    assert seen == list(range(AT_ONCE + 1))

"""A copy of the files of a running store opens, also when the end of its log is torn; `make soak` takes many more."""

from tests.storage.kv import torn_copies


async def test_a_copy_has_every_acknowledged_write() -> None:
    seen = await torn_copies.run(rounds=2, seed=1)

    assert seen.counts["of these with a torn log"] > 0
    assert seen.counts["acknowledged writes"] > 0

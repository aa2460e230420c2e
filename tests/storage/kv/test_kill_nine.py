"""No acknowledged write is lost when the process that holds the data is killed; `make soak` runs many more rounds."""

import pytest

from tests.storage.kv import kill_nine


@pytest.mark.parametrize(("engine", "rounds"), [("sqlite", 6), ("etcd", 2)])
async def test_no_acknowledged_write_is_lost_by_kill_nine(engine: str, rounds: int) -> None:
    report = await kill_nine.run(engine, rounds=rounds)

    assert report.rounds == rounds
    assert report.acknowledged > 0

"""No acknowledged write is lost when a server is killed under writes; `make soak` kills it a thousand times."""

from pathlib import Path

import pytest

from tests.reliability import kills
from tests.reliability.kill_writers import Claim


async def test_no_acknowledged_write_of_a_killed_server_is_lost(tmp_path: Path) -> None:
    seen = await kills.run(tmp_path, rounds=1, workers=1, on_etcd=False, seed=2)

    assert seen.counts["acknowledged writes"] > 0


def test_a_lost_write_is_found() -> None:
    claim = Claim(content="one")

    with pytest.raises(AssertionError, match="None instead of"):
        claim.check("a", None, is_final=False)


def test_a_write_without_an_answer_may_happen_until_the_second_check() -> None:
    claim = Claim(content="one", in_doubt=["two"])

    assert not claim.check("a", "one", is_final=True)
    assert claim.check("a", "two", is_final=True)
    with pytest.raises(AssertionError):
        claim.check("a", "one", is_final=True)


def test_a_write_that_has_not_happened_at_two_checks_of_ended_processes_must_not_happen_later() -> None:
    claim = Claim(content="one", in_doubt=["two"])
    for is_final in (False, True, False, False):
        assert not claim.check("a", "one", is_final=is_final)
    assert claim.in_doubt

    assert not claim.check("a", "one", is_final=True)

    with pytest.raises(AssertionError, match="two instead of"):
        claim.check("a", "two", is_final=True)

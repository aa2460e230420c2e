"""Call counts: the comparison of counted calls with the ledger."""

from benchmarks.call_counts import differences


def test_small_differences_are_within_the_tolerance() -> None:
    assert differences({"create": 1_000}, {"create": 1_030}) == []
    assert differences({"create": 1_000}, {"create": 970}) == []


def test_more_and_fewer_calls_are_reported() -> None:
    assert differences({"create": 1_000}, {"create": 1_031}) == ["create: 1031 calls, the ledger has 1000"]
    assert differences({"create": 1_000}, {"create": 969}) == ["create: 969 calls, the ledger has 1000"]


def test_a_request_that_only_one_side_knows_is_reported() -> None:
    assert differences({"create": 1_000}, {}) == ["create: 0 calls, the ledger has 1000"]
    assert differences({}, {"create": 1_000}) == ["create: 1000 calls, the ledger has 0"]

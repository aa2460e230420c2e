"""Call counts: the comparison of counted calls with the ledger."""

from benchmarks.call_counts import compared


def test_small_differences_are_within_the_tolerance() -> None:
    assert compared({"create": 1_000}, {"create": 1_100}) == ([], [])
    assert compared({"create": 1_000}, {"create": 900}) == ([], [])


def test_more_calls_are_above_and_fewer_calls_are_below() -> None:
    assert compared({"create": 1_000}, {"create": 1_101}) == (["create: 1101 calls, the ledger has 1000"], [])
    assert compared({"create": 1_000}, {"create": 899}) == ([], ["create: 899 calls, the ledger has 1000"])


def test_a_request_that_one_side_lacks_is_above() -> None:
    assert compared({"create": 1_000}, {}) == (["create: 0 calls, the ledger has 1000"], [])
    assert compared({}, {"create": 1_000}) == (["create: 1000 calls, the ledger has 0"], [])

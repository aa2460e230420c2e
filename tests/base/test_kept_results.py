"""Kept results: bounded by bytes, with the last used ones."""

from aio_apiserver.base.kept_results import KeptResults


def test_the_results_that_were_used_last_are_kept() -> None:
    kept = KeptResults[str, int](100)
    for number, key in enumerate(("a", "b")):
        kept.put(key, number, 50)
    kept.get("a")

    kept.put("c", 2, 50)

    assert [kept.get(key) for key in ("a", "b", "c")] == [0, None, 2]
    assert kept.statistics() == {"results": 2, "bytes": 100}


def test_a_result_that_is_too_large_is_not_kept_and_replaces_none() -> None:
    kept = KeptResults[str, int](100)
    kept.put("a", 1, 60)

    kept.put("b", 2, 101)
    kept.put("a", 3, 30)

    assert (kept.get("a"), kept.get("b")) == (3, None)
    assert kept.statistics() == {"results": 1, "bytes": 30}

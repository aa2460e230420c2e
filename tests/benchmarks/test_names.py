"""Names of benchmarks: a name picks one benchmark, or all below it."""

from benchmarks.__main__ import BENCHMARKS, main, picked


def test_a_name_picks_one_benchmark_or_all_below_it() -> None:
    assert picked(["storage.etcd"]) == ["storage.etcd"]
    assert picked(["storage"]) == ["storage.sqlite", "storage.etcd", "storage.cacher"]
    assert picked([]) == list(BENCHMARKS)


def test_an_unknown_name_is_refused() -> None:
    assert main(["storage", "stora"]) == 2

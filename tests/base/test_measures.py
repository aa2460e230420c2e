from aio_apiserver.base import measures


def test_a_histogram_counts_by_the_bound_that_a_value_does_not_exceed() -> None:
    tally = measures.histograms(bounds=(1, 2))

    for value in (0.5, 1, 1.5, 9):
        tally.of().observe(value)

    assert tally.of().counts == [2, 1, 1]
    assert (tally.of().sum, tally.of().total) == (12, 4)


def test_equal_values_can_be_observed_together() -> None:
    tally = measures.histograms(bounds=(10,))

    tally.of().observe_many(5, 3)

    assert (tally.of().counts, tally.of().sum) == ([3, 0], 15)


def test_a_histogram_takes_what_one_with_more_bounds_has_seen() -> None:
    fine = measures.histograms(bounds=(1, 2, 3)).of()
    coarse = measures.histograms(bounds=(2,)).of()
    for value in (0.5, 1.5, 2.5, 9):
        fine.observe(value)

    coarse.add(fine)

    assert (coarse.counts, coarse.sum) == ([2, 2], fine.sum)


def test_series_are_found_by_their_labels() -> None:
    tally = measures.counters("code")

    tally.of("200").add()
    tally.of("200").add(2)
    tally.of("404").add()

    assert {labels: series.value for labels, series in tally.series.items()} == {("200",): 3, ("404",): 1}


def test_those_who_record_notice_nothing_of_a_new_beginning() -> None:
    tally = measures.counters()
    series = tally.of()
    series.add()

    tally.reset()
    series.add()

    assert tally.of().value == 1

from aio_apiserver.storage import measures
from aio_apiserver.storage.measures import Measures


def test_a_histogram_counts_by_the_bound_that_a_value_does_not_exceed() -> None:
    family = measures.histogram("seconds", "Seconds.", bounds=(1, 2))

    for value in (0.5, 1, 1.5, 9):
        family.of().observe(value)

    assert family.of().counts == [2, 1, 1]
    assert (family.of().sum, family.of().total) == (12, 4)


def test_equal_values_can_be_observed_together() -> None:
    family = measures.histogram("bytes", "Bytes.", bounds=(10,))

    family.of().observe_many(5, 3)

    assert (family.of().counts, family.of().sum) == ([3, 0], 15)


def test_a_histogram_takes_what_one_with_more_bounds_has_seen() -> None:
    fine = measures.histogram("fine", "Fine.", bounds=(1, 2, 3)).of()
    coarse = measures.histogram("coarse", "Coarse.", bounds=(2,)).of()
    for value in (0.5, 1.5, 2.5, 9):
        fine.observe(value)

    coarse.add(fine)

    assert (coarse.counts, coarse.sum) == ([2, 2], fine.sum)


def test_series_are_found_by_their_labels() -> None:
    family = measures.counter("requests_total", "Requests.", labels=("code",))

    family.of("200").add()
    family.of("200").add(2)
    family.of("404").add()

    assert {labels: series.value for labels, series in family.series.items()} == {("200",): 3, ("404",): 1}


def test_those_who_record_notice_nothing_of_a_new_beginning() -> None:
    family = measures.counter("requests_total", "Requests.")
    series = family.of()
    series.add()

    family.reset()
    series.add()

    assert family.of().value == 1


def test_families_are_asked_for_when_somebody_wants_to_see_them() -> None:
    known = Measures()
    made: list[measures.AnyFamily] = []

    def make() -> list[measures.AnyFamily]:
        made.append(measures.gauge("now", "Now."))
        return made[-1:]

    known.ask(make)
    assert not made

    found = list(known.families())

    assert found == made

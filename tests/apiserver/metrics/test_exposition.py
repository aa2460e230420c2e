from aio_apiserver.apiserver.endpoints import exposition
from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import Stability


def test_counters_are_called_what_they_are_called() -> None:
    family = metric_families.counter("attempts", "Attempts.", labels=("result", "by"), stability=Stability.STABLE)
    family.of("success", 'a "b"\n\\').add(3)

    text = exposition.text([family])

    assert text == (
        "# HELP attempts [STABLE] Attempts.\n"
        "# TYPE attempts counter\n"
        'attempts{by="a \\"b\\"\\n\\\\",result="success"} 3\n'
    )


def test_buckets_add_up() -> None:
    family = metric_families.histogram("seconds", "Seconds.", bounds=(0.00001, 0.5, 2_500_000))
    for value in (0.1, 0.2, 1, 9_000_000):
        family.of().observe(value)

    lines = exposition.text([family]).splitlines()[2:]

    assert lines == [
        'seconds_bucket{le="1e-05"} 0',
        'seconds_bucket{le="0.5"} 2',
        'seconds_bucket{le="2.5e+06"} 3',
        'seconds_bucket{le="+Inf"} 4',
        "seconds_sum 9.0000013e+06",
        "seconds_count 4",
    ]


def test_nothing_is_said_of_what_has_not_happened() -> None:
    family = metric_families.histogram("seconds", "Seconds.", bounds=(1,), labels=("verb",))
    family.of("GET")
    family.of("LIST").observe(0.5)

    text = exposition.text([family, metric_families.counter("requests", "Requests.", labels=("code",))])

    assert 'verb="LIST"' in text
    assert 'verb="GET"' not in text
    assert "requests" not in text

import pytest

from aio_apiserver.registry.machinery.printing import ages

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1.9, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 10, "2m10s"),
        (10 * MINUTE + 1, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (7 * HOUR + 59 * MINUTE, "7h59m"),
        (8 * HOUR + 59 * MINUTE, "8h"),
        (2 * DAY - 1, "47h"),
        (2 * DAY, "2d"),
        (3 * DAY + HOUR, "3d1h"),
        (8 * DAY + HOUR, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + DAY, "2y1d"),
        (8 * YEAR + DAY, "8y"),
    ],
)
def test_durations_change_units_where_kubectl_does(seconds: float, text: str) -> None:
    assert ages.duration(seconds) == text


def test_an_age_is_the_time_since_a_timestamp() -> None:
    assert ages.since("2023-11-14T22:13:20Z", 1_700_000_061.5) == "61s"


def test_micro_times_count_as_well() -> None:
    assert ages.since("2023-11-14T22:13:20.500000Z", 1_700_000_061.5) == "61s"


def test_a_time_that_is_not_set_is_unknown() -> None:
    assert ages.since(None, 0) == "<unknown>"

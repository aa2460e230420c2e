"""Repeated warnings: one line at once, some dozens in a night, and the number of those that are left out."""

import logging

from aio_apiserver.apiserver.config.repeated_warnings import MOST_SECONDS, SECONDS, RepeatedWarnings

NIGHT = 8 * 3600


class Lines:
    """What the filter lets through, with the times of a clock of the test."""

    def __init__(self) -> None:
        self._filter = RepeatedWarnings()
        self.written: list[tuple[float, str]] = []

    def warn(self, when: float, text: str = "etcd is away", level: int = logging.WARNING) -> None:
        record = logging.LogRecord("one", level, __file__, 1, text, (), None)
        record.created = when
        if self._filter.filter(record):
            self.written.append((when, record.getMessage()))

    @property
    def times(self) -> list[float]:
        return [when for when, _ in self.written]


def test_the_first_is_written_at_once_and_the_next_has_the_number_of_the_others() -> None:
    lines = Lines()

    for second in range(12):
        lines.warn(second)

    assert lines.written == [(0, "etcd is away"), (10, "etcd is away (9 more of these were left out)")]


def test_a_night_without_etcd_has_some_dozens_of_lines_and_one_every_ten_minutes() -> None:
    lines = Lines()

    for second in range(0, NIGHT, 10):
        lines.warn(second)

    assert lines.times[:5] == [0, 10, 30, 70, 150]
    assert len(lines.times) < NIGHT / MOST_SECONDS + 10
    assert max(after - before for before, after in zip(lines.times, lines.times[1:], strict=False)) <= MOST_SECONDS


def test_after_a_pause_a_warning_is_news() -> None:
    lines = Lines()
    for second in range(0, NIGHT, 10):
        lines.warn(second)

    lines.warn(2 * NIGHT)
    lines.warn(2 * NIGHT + SECONDS)

    assert lines.times[-2:] == [2 * NIGHT, 2 * NIGHT + SECONDS]


def test_other_texts_and_errors_are_not_left_out() -> None:
    lines = Lines()

    for text, level in (("a", logging.WARNING), ("b", logging.WARNING), ("c", logging.ERROR), ("c", logging.ERROR)):
        lines.warn(0, text, level)

    assert [text for _, text in lines.written] == ["a", "b", "c", "c"]

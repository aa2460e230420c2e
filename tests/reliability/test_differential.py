"""The comparison with kube-apiserver: what is a difference, and which row of the ledger explains it."""

import re

from tests.apiserver.serving import Answer
from tests.reliability import differential
from tests.reliability.differential import Known

JSON = {"content-type": "application/json"}


def difference(theirs: Answer, ours: Answer) -> str:
    return " ".join(differential.differences(theirs, ours, "a-namespace", is_watch=False))


def test_times_and_versions_are_no_difference() -> None:
    theirs = Answer(200, JSON, b'{"metadata":{"resourceVersion":"5","creationTimestamp":"2026-01-01T00:00:00Z"}}')
    ours = Answer(200, JSON, b'{"metadata":{"resourceVersion":"7","creationTimestamp":"2026-02-02T00:00:00Z"}}')

    assert difference(theirs, ours) == ""


def test_another_status_is_shown_with_both_answers() -> None:
    told = difference(Answer(200, JSON, b'{"kind":"Pod"}'), Answer(422, JSON, b'{"kind":"Status"}'))

    assert told == '.status: want 200 {"kind":"Pod"}, got 422 {"kind":"Status"}'


def test_another_value_is_shown_with_its_place() -> None:
    told = difference(Answer(200, JSON, b'{"spec":{"a":1}}'), Answer(200, JSON, b'{"spec":{"a":2}}'))

    assert told == ".body.spec.a: want 1, got 2"


def test_a_row_explains_what_its_pattern_finds() -> None:
    rows = [Known(pattern=r"want 1, got \d", why="on purpose")]

    assert differential.explained(".body.a: want 1, got 2", rows) is rows[0]
    assert differential.explained(".body.a: want 2, got 2", rows) is None


def test_the_ledger_can_be_read() -> None:
    rows = differential.ledger()

    assert len({row.pattern for row in rows}) == len(rows)
    assert all(re.compile(row.pattern) and row.why for row in rows)

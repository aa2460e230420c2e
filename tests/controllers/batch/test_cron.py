from datetime import UTC, datetime, timedelta

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch import cron
from aio_apiserver.controllers.batch import cron_job_runs as cron_jobs
from tests.controllers.making import obj

_START = datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "due"),
    [
        ("* * * * *", "2026-01-01T00:01"),
        ("*/15 * * * *", "2026-01-01T00:15"),
        ("5,10 3-4 * * *", "2026-01-01T03:05"),
        ("0 0 31 * *", "2026-01-31T00:00"),
        ("0 0 29 feb *", "2028-02-29T00:00"),
        ("0 12 * * mon", "2026-01-05T12:00"),
        ("0 12 13 * fri", "2026-01-02T12:00"),
        ("@hourly", "2026-01-01T01:00"),
        ("@every 90s", "2026-01-01T00:02"),
        ("TZ=Europe/Berlin 0 9 * * *", "2026-01-01T08:00"),
    ],
)
def test_the_next_time_of_a_schedule(schedule: str, due: str) -> None:
    time = cron.parse(schedule, None).next(_START)

    assert time is not None
    assert time.isoformat()[:16] == due


@pytest.mark.parametrize(
    ("schedule", "after", "due"),
    [
        ("*/15 * * * *", "2026-11-01T06:10", "2026-11-01T06:15"),
        ("0 * * * *", "2026-11-01T05:30", "2026-11-01T06:00"),
        ("0 2 * * *", "2026-11-01T05:30", "2026-11-01T07:00"),
        ("30 2 * * *", "2026-03-08T06:00", "2026-03-09T06:30"),
        ("0 0 * * *", "2026-10-31T12:00", "2026-11-01T04:00"),
    ],
)
def test_a_schedule_follows_the_clock_changes_of_its_zone(schedule: str, after: str, due: str) -> None:
    time = cron.parse(schedule, "America/New_York").next(datetime.fromisoformat(f"{after}:00+00:00"))

    assert time is not None
    assert time.isoformat()[:16] == due


def test_a_schedule_may_never_be_due() -> None:
    assert cron.parse("0 0 30 2 *", None).next(_START) is None


def test_only_the_last_of_many_missed_times_counts() -> None:
    schedule, now = cron.parse("30 * * * *", None), _START + timedelta(days=100)

    assert cron.due(schedule, _START, now) == datetime(2026, 4, 10, 23, 30, tzinfo=UTC)
    assert cron.due(schedule, now, now + timedelta(minutes=1)) is None


def test_more_than_a_hundred_missed_times_are_many() -> None:
    schedule = cron.parse("30 * * * *", None)

    assert not cron.has_missed_many(schedule, _START, _START + timedelta(hours=100))
    assert cron.has_missed_many(schedule, _START, _START + timedelta(hours=101))


def test_a_running_job_that_is_not_in_the_status_is_unexpected() -> None:
    owner = {**obj("tick"), "status": {"active": [{"uid": "known"}]}}
    jobs = [obj("known"), _done("done", "Complete", "1"), obj("by-hand")]

    assert cron_jobs.unexpected(owner, jobs) == [jobs[2]]


def test_intervals_keep_their_pace_when_some_were_missed() -> None:
    schedule = cron.parse("@every 10m", None)

    assert cron.due(schedule, _START, _START + timedelta(minutes=25)) == _START + timedelta(minutes=20)


def test_a_time_before_the_starting_deadline_is_not_due() -> None:
    owner = {
        **obj("tick"),
        "spec": {"startingDeadlineSeconds": 60},
        "status": {"lastScheduleTime": "2026-01-01T00:00:00Z"},
    }
    schedule = cron.parse("0 * * * *", None)

    def due(now: datetime) -> datetime | None:
        since = cron_jobs.since(owner, now=now.timestamp())
        return cron.due(schedule, datetime.fromtimestamp(since, UTC), now)

    assert due(datetime(2026, 1, 1, 5, 0, 59, tzinfo=UTC)) == datetime(2026, 1, 1, 5, tzinfo=UTC)
    assert due(datetime(2026, 1, 1, 5, 1, 1, tzinfo=UTC)) is None


def _done(name: str, kind: str, start: str) -> Object:
    return {**obj(name), "status": {"conditions": [{"type": kind, "status": "True"}], "startTime": start}}


def test_only_some_finished_jobs_are_kept() -> None:
    owner = {**obj("tick"), "spec": {"successfulJobsHistoryLimit": 1}}
    every = [_done("b", "Complete", "2"), _done("a", "Complete", "1"), _done("c", "Failed", "3")]

    assert [one["metadata"]["name"] for one in cron_jobs.superfluous(owner, every)] == ["a"]


def test_a_job_is_named_after_its_time() -> None:
    owner = {**obj("tick"), "spec": {"jobTemplate": {"spec": {"template": {}}}}}

    made = cron_jobs.job_of(owner, _START.replace(second=0), cron.parse("@hourly", "Europe/Berlin"))

    assert made["metadata"]["name"] == "tick-29453760"
    assert made["metadata"]["annotations"] == {
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T01:00:00+01:00"
    }

"""The quota: when the alarm begins and ends, and which writes it lets pass."""

import pytest

from aio_apiserver.storage.errors import NoSpace
from aio_apiserver.storage.kv.interface import MAX_VALUE_BYTES
from aio_apiserver.storage.kv.quota import Quota
from aio_apiserver.storage.record import Record

LIMIT = 64 << 20


def record(size: int) -> Record:
    return Record(b"a", bytes(size), 2, 2, 1)


def quota_with(used: int) -> Quota:
    quota = Quota(LIMIT)
    quota.note(used)
    return quota


def test_a_write_beyond_the_quota_is_refused_with_the_message_of_etcd_and_begins_the_alarm() -> None:
    quota = quota_with(LIMIT - 100_000)

    with pytest.raises(NoSpace, match=r"^etcdserver: mvcc: database space exceeded$"):
        quota.charge(bytes(100_001), None)

    assert quota.is_exceeded
    with pytest.raises(NoSpace):
        quota.charge(b"x", None)


def test_writes_between_two_measures_count() -> None:
    quota = quota_with(LIMIT - 1_600_000)

    for _ in range(16):
        quota.charge(bytes(100_000), None)

    assert not quota.is_exceeded
    with pytest.raises(NoSpace):
        quota.charge(b"x", None)


def test_the_marks_of_a_deletion_pass_and_growth_does_not() -> None:
    quota = quota_with(LIMIT)

    quota.charge(bytes(13_000), record(10_000))

    with pytest.raises(NoSpace):
        quota.charge(bytes(15_000), record(10_000))


def test_behind_the_reserve_nothing_is_written() -> None:
    quota = quota_with(LIMIT + 10 * MAX_VALUE_BYTES)

    with pytest.raises(NoSpace):
        quota.charge(b"x", record(10_000))


def test_the_alarm_ends_when_there_is_room_for_some_writes() -> None:
    quota = quota_with(LIMIT)

    alarms = []
    for used in (LIMIT - LIMIT // 16, LIMIT - LIMIT // 16 - 1):
        quota.note(used)
        alarms.append(quota.is_exceeded)

    assert alarms == [True, False]
    quota.charge(b"x", None)


def test_without_a_limit_nothing_is_refused() -> None:
    quota = Quota(0)
    quota.note(1 << 50)

    quota.charge(bytes(1_000), None)

    assert not quota.is_exceeded

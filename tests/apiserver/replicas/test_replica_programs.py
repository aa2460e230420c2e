"""The short forms of the long runs on replicas: kills during starts, reads on other replicas, rolling restarts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apiserver.replicas.cross_reads import read_after_writes
from tests.apiserver.replicas.killed_starts import start_with_kills
from tests.apiserver.replicas.rolling_load import restart_under_load
from tests.storage.kv.etcd_server import Member


@pytest.fixture(scope="module")
def etcd() -> Iterator[Member]:
    with Member() as member:
        yield member


async def test_replicas_that_are_killed_while_they_start_all_come_up(tmp_path: Path, etcd: Member) -> None:
    done = await start_with_kills(tmp_path, etcd, rounds=1, replicas=2, kills=1, seed=1)

    assert (done.counts["replicas"], done.counts["of these killed"], done.counts["dead"]) == (2, 1, 0)


async def test_a_list_on_another_replica_has_every_write(tmp_path: Path, etcd: Member) -> None:
    assert (await read_after_writes(tmp_path, etcd, pairs=50)).counts == {"pairs": 50, "stale lists": 0}


async def test_a_restart_behind_a_balancer_fails_no_request_and_no_watch(tmp_path: Path, etcd: Member) -> None:
    done = await restart_under_load(tmp_path, etcd, per_second=50, watches=5, restarts=1, delay=10)

    assert (done.counts["failed requests"], done.counts["watches that listed again"]) == (0, 0)

"""Lists in pages are of one snapshot, and a copy that follows a list equals a final list, while others write."""

from collections.abc import AsyncIterator

import pytest

from aio_apiserver.testing import Server
from tests.reliability import chunks, informers
from tests.reliability.histories import Replica, replica_of


@pytest.fixture
async def replica() -> AsyncIterator[Replica]:
    """A server that compacts its history twice a second."""
    async with Server(storage_backend="sqlite", etcd_compaction_interval="500ms") as server:
        yield replica_of(server)


async def test_copies_of_informers_equal_a_final_list(replica: Replica) -> None:
    seen = await informers.run([replica], hand_offs=20, seed=1)

    assert seen.counts["events"] > 20


async def test_a_list_in_pages_is_one_snapshot_or_continues_after_410(replica: Replica) -> None:
    seen = await chunks.run([replica], lists=20, seed=1)

    assert seen.counts["lists equal to their version"] > 0
    assert seen.counts["lists continued after 410"] > 0

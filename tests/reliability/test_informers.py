"""Lists in pages are of one snapshot, and a copy that follows a list equals a final list, while others write."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from aio_apiserver.testing import Server
from tests.reliability import chunks, histories, informers
from tests.reliability.histories import MAPS, Replica, replica_of


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


async def test_a_client_whose_pages_come_too_late_lists_at_once(replica: Replica) -> None:
    compacted: list[str] = []
    async with histories.session(replica) as other:

        async def write(number: int) -> None:
            async with other.post(MAPS, json={"metadata": {"name": f"map-{number}"}}, raise_for_status=True):
                pass

        async def compact_before_the_second_page(
            request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
        ) -> aiohttp.ClientResponse:
            if "continue" in request.url.query:
                while (answer := await send(request)).ok:
                    answer.release()
                    await write(100 + len(compacted))
                    compacted.append("not yet")
                return answer
            return await send(request)

        for number in range(6):
            await write(number)
        async with aiohttp.ClientSession(
            replica.url,
            headers={"Authorization": f"Bearer {replica.token}"},
            connector=aiohttp.TCPConnector(ssl=replica.tls),
            middlewares=[compact_before_the_second_page],
        ) as late:
            found, _ = await informers.listed_in_time(late, {"limit": "4"})
        whole, _ = await informers.listed(other, {})

    assert compacted
    assert found == whole

"""Ranges: pages of a large range, from a real etcd."""

from collections.abc import AsyncIterator

import grpc.aio
import pytest
from aetcd import rpc

from aio_apiserver.storage.kv.etcd import failures
from aio_apiserver.storage.kv.etcd.grpc_status import Code
from aio_apiserver.storage.kv.etcd.ranges import read_range
from tests.storage.kv.etcd_server import Member

COUNT = 4_000
ALL = rpc.RangeRequest(key=b"/many/", range_end=b"/many0")


class Reads:
    """The reads of one member. compacts_before: the number of the read before which a write is made, and compacted."""

    def __init__(self, kv: rpc.KVStub, *, compacts_before: int = 0) -> None:
        self.limits: list[int] = []
        self._kv = kv
        self._compacts_before = compacts_before

    async def __call__(self, request: rpc.RangeRequest) -> rpc.RangeResponse:
        self.limits.append(request.limit)
        if len(self.limits) == self._compacts_before:
            late = await self._kv.Put(rpc.PutRequest(key=b"/many/late"))
            await self._kv.Compact(rpc.CompactionRequest(revision=late.header.revision))
        try:
            return await self._kv.Range(request)
        except grpc.aio.AioRpcError as error:
            raise failures.of_answer(Code(error.code().value[0]), error.details() or "").error from error


@pytest.fixture
async def many(member: Member) -> AsyncIterator[rpc.KVStub]:
    async with grpc.aio.insecure_channel(member.endpoint.removeprefix("http://")) as channel:
        kv = rpc.KVStub(channel)
        for start in range(0, COUNT, 100):
            puts = [rpc.PutRequest(key=b"/many/%05d" % number) for number in range(start, start + 100)]
            await kv.Txn(rpc.TxnRequest(success=[rpc.RequestOp(request_put=put) for put in puts]))
        yield kv


async def test_pages_of_small_values_at_most_double(many: rpc.KVStub) -> None:
    reads = Reads(many)

    result = await read_range(reads, ALL)

    assert reads.limits == [1_000, 2_000, 4_000]
    assert (len(result.records), result.count, result.more) == (COUNT, COUNT, False)


async def test_a_range_that_is_compacted_meanwhile_is_read_again_in_pages(many: rpc.KVStub) -> None:
    reads = Reads(many, compacts_before=2)

    result = await read_range(reads, ALL)

    assert reads.limits == [1_000, 2_000, 1_000, 2_000, 4_000]
    assert [record.key for record in result.records][-1] == b"/many/late"
    assert len(result.records) == COUNT + 1

"""Ranges: reads a large range from etcd in pages, all at the revision of the first one.

One answer of 70 MB is parsed in one go and holds up the event loop for a tenth of a second. Pages take no longer
altogether, and hold it up for some milliseconds each. Each page has the deadline of a request. Pages at most double,
since etcd has no limit in bytes, and large values may follow small ones.

Must hold: the result is that of one read at one revision, also when keys are written or compacted meanwhile.
"""

from collections.abc import Awaitable, Callable

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.etcd.messages import record_of
from aio_apiserver.storage.kv.interface import RangeResult
from aio_apiserver.storage.record import Record

Read = Callable[[rpc.RangeRequest], Awaitable[rpc.RangeResponse]]

_FIRST_PAGE = 1_000
_MOST_RECORDS = 20_000
_PAGE_BYTES = 8 * 1024 * 1024
"""The size of a page after the first one: some 15 ms of the event loop. etcd counts the whole rest of the range for
each page, so pages must not be small either.
"""
_RECORD_BYTES = 50


async def read_range(read: Read, request: rpc.RangeRequest) -> RangeResult:
    """Read the range of a request."""
    if request.count_only or 0 < request.limit <= _FIRST_PAGE:
        return _result(await read(request))
    while True:
        try:
            return await _read_pages(read, request)
        except Compacted:  # the first page's revision has gone meanwhile: any newer one will do
            if request.revision:
                raise


async def _read_pages(read: Read, request: rpc.RangeRequest) -> RangeResult:
    page = rpc.RangeRequest()
    page.CopyFrom(request)
    page.limit = _FIRST_PAGE
    response = first = await read(page)
    records = [record_of(kv) for kv in first.kvs]
    while response.more and len(records) != request.limit:
        page.key = records[-1].key + b"\x00"
        page.revision = request.revision or first.header.revision
        page.limit = _page_limit(records, page.limit)
        if request.limit:
            page.limit = min(page.limit, request.limit - len(records))
        response = await read(page)
        records.extend(map(record_of, response.kvs))
    return RangeResult(records, first.header.revision, first.count, more=response.more)


def _page_limit(records: list[Record], limit: int) -> int:
    """How many records the next page requests, by the size of the last ones and the limit of their page."""
    sample = records[-_FIRST_PAGE:]
    usual = sum(_RECORD_BYTES + len(record.key) + len(record.value) for record in sample) // len(sample)
    return min(max(1, _PAGE_BYTES // usual), 2 * limit, _MOST_RECORDS)


def _result(response: rpc.RangeResponse) -> RangeResult:
    records = [record_of(kv) for kv in response.kvs]
    return RangeResult(records, response.header.revision, response.count, response.more)

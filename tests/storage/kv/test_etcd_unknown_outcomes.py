"""Writes with lost answers: they are never sent again, and their outcome is found out or reported as unknown.

The engine under test talks to etcd through a proxy that loses answers or requests; `direct` sees the store as it is.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.storage.errors import DeadlineExceeded
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import KV, WriteResult
from tests.storage.kv.etcd_server import Member
from tests.storage.kv.steps import create, next_events, read, remove, update, written
from tests.storage.kv.tcp_proxy import TcpProxy

Started = asyncio.Task[WriteResult]


@pytest.fixture(scope="module")
def member(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


@pytest.fixture
async def direct(member: Member) -> AsyncIterator[KV]:
    engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
    yield engine
    await engine.close()


@pytest.fixture
async def proxy(member: Member) -> AsyncIterator[TcpProxy]:
    async with TcpProxy(member.client_port) as proxy:
        yield proxy


@pytest.fixture
async def kv(proxy: TcpProxy) -> AsyncIterator[KV]:
    """An engine that is connected through the proxy and knows the store's revision."""
    engine = EtcdKV(EtcdConfig(endpoints=[f"http://127.0.0.1:{proxy.port}"]))
    await engine.current_revision()
    yield engine
    await engine.close()


@pytest.fixture
def key(request: pytest.FixtureRequest) -> bytes:
    name: str = request.node.name
    return b"/doubt/" + name.encode()


@pytest.fixture
def lose_answers(proxy: TcpProxy, direct: KV) -> Callable[..., Awaitable[list[Started]]]:
    """Start writes, wait until one of them has been applied to the key, and cut the connection before any answer."""

    async def lose_answers(key: bytes, *writes: Coroutine[Any, Any, WriteResult]) -> list[Started]:
        revision = await direct.current_revision() + 1
        async with direct.watch(key, key + b"\x00", revision=revision) as batches:
            proxy.answers.clear()
            tasks = [asyncio.create_task(write) for write in writes]
            await next_events(batches)
        proxy.disconnect()
        proxy.heal()
        return tasks

    return lose_answers


@pytest.fixture
def lose_requests(proxy: TcpProxy) -> Callable[..., Awaitable[list[Started]]]:
    """Start writes and cut the connection before etcd has got them; another write may happen meanwhile."""

    async def lose_requests(
        *writes: Coroutine[Any, Any, WriteResult], meanwhile: Callable[[], Awaitable[object]] | None = None
    ) -> list[Started]:
        proxy.held_request.clear()
        proxy.requests.clear()
        tasks = [asyncio.create_task(write) for write in writes]
        await proxy.held_request.wait()
        if meanwhile:
            await meanwhile()
        proxy.disconnect()
        proxy.heal()
        return tasks

    return lose_requests


Lose = Callable[..., Awaitable[list[Started]]]


async def test_a_create_that_was_applied_succeeds(kv: KV, direct: KV, key: bytes, lose_answers: Lose) -> None:
    (started,) = await lose_answers(key, kv.put(key, b"one", expected_mod_revision=0))

    result = await started

    assert await read(direct, key) == written(key, b"one", result)


async def test_an_update_that_was_applied_succeeds(kv: KV, direct: KV, key: bytes, lose_answers: Lose) -> None:
    record = await create(kv, key)

    (started,) = await lose_answers(key, kv.put(key, b"two", expected_mod_revision=record.mod_revision))

    result = await started
    assert await read(direct, key) == written(key, b"two", result, before=record)


async def test_a_deletion_that_was_applied_stays_unknown(kv: KV, direct: KV, key: bytes, lose_answers: Lose) -> None:
    """Another process may have deleted the key: two clients would take one deletion for theirs."""
    record = await create(kv, key)

    (started,) = await lose_answers(key, kv.delete(key, expected_mod_revision=record.mod_revision))

    with pytest.raises(DeadlineExceeded):
        await started
    assert await read(direct, key) is None


async def test_an_applied_write_succeeds_though_others_came_after_it(
    kv: KV, direct: KV, key: bytes, lose_answers: Lose
) -> None:
    record = await create(kv, key)

    (started,) = await lose_answers(key, kv.put(key, b"two", expected_mod_revision=record.mod_revision))
    ours = await read(direct, key)
    assert ours is not None
    await remove(direct, await update(direct, ours, b"three"))

    result = await started
    assert result == WriteResult(True, ours.mod_revision)


async def test_a_write_that_never_arrived_stays_unknown(kv: KV, direct: KV, key: bytes, lose_requests: Lose) -> None:
    (started,) = await lose_requests(kv.put(key, b"one", expected_mod_revision=0))

    with pytest.raises(DeadlineExceeded):
        await started

    assert await read(direct, key) is None


async def test_an_update_is_lost_when_another_one_came_first(
    kv: KV, direct: KV, key: bytes, lose_requests: Lose
) -> None:
    record = await create(kv, key)

    (started,) = await lose_requests(
        kv.put(key, b"two", expected_mod_revision=record.mod_revision),
        meanwhile=lambda: update(direct, record, b"other"),
    )

    result = await started
    assert not result.succeeded
    assert result.record is not None
    assert (result.record, result.record.value) == (await read(direct, key), b"other")


async def test_an_update_is_lost_when_the_key_was_deleted(kv: KV, direct: KV, key: bytes, lose_requests: Lose) -> None:
    record = await create(kv, key)

    (started,) = await lose_requests(
        kv.put(key, b"two", expected_mod_revision=record.mod_revision), meanwhile=lambda: remove(direct, record)
    )

    result = await started
    assert (result.succeeded, result.record) == (False, None)


async def test_an_update_on_an_outdated_revision_is_lost(kv: KV, direct: KV, key: bytes, lose_requests: Lose) -> None:
    outdated = await create(kv, key)
    current = await update(kv, outdated, b"two")

    (started,) = await lose_requests(kv.put(key, b"two", expected_mod_revision=outdated.mod_revision))

    result = await started
    assert (result.succeeded, result.record) == (False, current)


async def test_a_create_is_not_lost_because_another_one_came_first(
    kv: KV, direct: KV, key: bytes, lose_requests: Lose
) -> None:
    (started,) = await lose_requests(
        kv.put(key, b"one", expected_mod_revision=0), meanwhile=lambda: create(direct, key, b"other")
    )

    with pytest.raises(DeadlineExceeded):
        await started


async def test_of_two_equal_writes_none_takes_the_effect_of_the_other(
    kv: KV, direct: KV, key: bytes, lose_answers: Lose
) -> None:
    counter = await create(kv, key, b"5")

    started = await lose_answers(
        key, *[kv.put(key, b"6", expected_mod_revision=counter.mod_revision) for _ in range(2)]
    )

    results = await asyncio.gather(*started, return_exceptions=True)
    assert [type(result) for result in results] == [DeadlineExceeded, DeadlineExceeded]
    current = await read(direct, key)
    assert current is not None
    assert current.version == 2


async def test_a_write_in_doubt_is_sent_once(kv: KV, direct: KV, key: bytes, lose_answers: Lose) -> None:
    (started,) = await lose_answers(key, kv.put(key, b"one", expected_mod_revision=0))
    created = await read(direct, key)
    assert created is not None
    deletion = await remove(direct, created)

    result = await started

    assert result.succeeded
    assert await read(direct, key) is None
    assert await direct.current_revision() == deletion

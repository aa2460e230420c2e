"""Clients whose handshake has not ended: turns by address, and who is dropped when there is no room."""

import asyncio
from collections.abc import Sequence

import pytest

from aio_apiserver.apiserver.wire import pending_clients
from aio_apiserver.apiserver.wire.pending_clients import MOST_BEGUN, MOST_PENDING, PendingClient, PendingClients
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.tasks import Tasks

FLOOD, OTHER = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def clients(clock: ManualClock) -> PendingClients:
    return PendingClients(clock)


def admitted(clients: PendingClients, address: str, dropped: list[str] | None = None) -> PendingClient:
    client = clients.admit(address, lambda: (dropped if dropped is not None else []).append(address))
    assert client is not None
    return client


async def begun(clients: PendingClients, address: str = FLOOD) -> PendingClient:
    client = admitted(clients, address)
    await clients.wait_for_turn(client)
    return client


async def test_addresses_take_turns(clients: PendingClients) -> None:
    tasks, order = Tasks(), list[str]()

    async def wait(address: str) -> None:
        client = admitted(clients, address)
        await clients.wait_for_turn(client)
        order.append(address)
        clients.leave(client)

    running = [await begun(clients) for _ in range(MOST_BEGUN)]
    waiting = [tasks.spawn(wait(address), name=address) for address in (FLOOD, FLOOD, FLOOD, OTHER, "192.0.2.3")]
    await asyncio.sleep(0)
    clients.leave(running[0])
    await asyncio.gather(*waiting)
    await tasks.close()

    assert order == [FLOOD, OTHER, "192.0.2.3", FLOOD, FLOOD]


async def test_a_client_that_leaves_while_it_waits_gives_its_turn_on(clients: PendingClients) -> None:
    tasks, running = Tasks(), [await begun(clients) for _ in range(MOST_BEGUN)]
    leaving, staying = admitted(clients, FLOOD), admitted(clients, FLOOD)
    left = tasks.spawn(clients.wait_for_turn(leaving), name="leaves")
    stays = tasks.spawn(clients.wait_for_turn(staying), name="stays")
    await asyncio.sleep(0)

    clients.leave(running[0])
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    clients.leave(leaving)

    await stays
    await tasks.close()


async def test_a_handshake_that_waits_for_its_client_needs_no_turn(clients: PendingClients) -> None:
    for _ in range(3 * MOST_BEGUN):
        assert clients.note_slow(await begun(clients))


async def test_a_full_house_loses_the_oldest_silent_client_of_the_busiest_address(
    clients: PendingClients, clock: ManualClock
) -> None:
    dropped: list[str] = []
    first = admitted(clients, OTHER, dropped)
    for _ in range(MOST_PENDING - 1):
        admitted(clients, FLOOD, dropped)
    assert clients.admit(OTHER, dropped.clear) is None

    clock.advance(1)
    admitted(clients, FLOOD, dropped)
    admitted(clients, OTHER, dropped)

    assert dropped == [FLOOD, FLOOD]
    await clients.wait_for_turn(first)


async def test_a_client_that_waits_for_its_turn_is_not_dropped(clients: PendingClients, clock: ManualClock) -> None:
    for _ in range(MOST_BEGUN):
        await begun(clients)
    tasks = Tasks()
    for _ in range(MOST_PENDING - MOST_BEGUN):
        tasks.spawn(clients.wait_for_turn(admitted(clients, FLOOD)), name="waits")
    await asyncio.sleep(0)
    clock.advance(60)

    assert clients.admit(OTHER, list) is None

    await tasks.close()


async def test_few_handshakes_wait_for_their_clients_at_the_same_time(
    clients: PendingClients, clock: ManualClock
) -> None:
    slow = [await begun(clients) for _ in range(MOST_BEGUN)]
    while clients.note_slow(slow[-1]):
        slow.append(await begun(clients))
    assert len(slow) < MOST_PENDING

    clock.advance(1)

    assert clients.note_slow(slow[-1])


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (("2001:db8::1", "2001:db8::ffff:2"), 1),
        (("2001:db8::1", "2001:db8:0:1::1"), 2),
        (("::ffff:192.0.2.1", "::ffff:192.0.2.2"), 2),
        (("fe80::1%eth0", "fe80::2%eth0"), 1),
        (("192.0.2.1", "192.0.2.2"), 2),
    ],
)
def test_a_network_of_ipv6_is_one_address(addresses: Sequence[str], expected: int) -> None:
    assert len({pending_clients._network_of(address) for address in addresses}) == expected

"""pending_clients: the accepted clients whose TLS handshake has not ended, and whose turn it is.

    SILENT     the client has not sent its hello: it takes a descriptor and 2 KB
    WAITING    its hello is there, and waits for a turn
    BEGUN      its handshake has a turn; few have one at the same time
    SLOW       its handshake waits for the client, without a turn

Addresses take turns: before the second client of an address, each other address has one turn. When there is no room,
the address with most clients that are silent or slow loses the oldest of them. A network of IPv6 with 64 bits counts
as one address.

It knows no socket and no task. Must hold: a client that waits, or whose handshake has a turn, is not dropped. Neither
is one that came just now.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum, auto
from ipaddress import IPv6Address, ip_address

from aio_apiserver.base.clock import Clock

MOST_PENDING = 512
"""Clients in all states."""
MOST_BEGUN = 16
_MOST_SLOW = 128
"""The last messages of so many handshakes may come at once. They take up to 40 ms."""
_LEAST_SECONDS = 0.25
"""A younger client is not dropped."""
_NETWORK_BITS = 64


class HandshakeStage(Enum):
    """How far a client is."""

    SILENT = auto()
    WAITING = auto()
    BEGUN = auto()
    SLOW = auto()


_DROPPED_FIRST = (HandshakeStage.SILENT, HandshakeStage.SLOW)


class PendingClient:
    """One client. drop: ends it."""

    __slots__ = ("address", "drop", "since", "stage")

    def __init__(self, address: str, since: float, drop: Callable[[], object]) -> None:
        self.address = address
        self.since = since
        self.drop = drop
        self.stage = HandshakeStage.SILENT


class PendingClients:
    """The clients of one listener."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._clients: dict[PendingClient, None] = {}
        """The oldest first."""
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """The clients that wait, by address. The first address has the next turn."""
        self._begun = 0

    def statistics(self) -> Mapping[str, int]:
        """How many clients there are, and how many handshakes have a turn."""
        return {"pending": len(self._clients), "begun": self._begun}

    def admit(self, address: str, drop: Callable[[], object]) -> PendingClient | None:
        """A new client; None when there is no room for it."""
        if len(self._clients) >= MOST_PENDING and not self._drop_one(_DROPPED_FIRST):
            return None
        client = PendingClient(_network_of(address), self._clock.monotonic(), drop)
        self._clients[client] = None
        return client

    async def wait_for_turn(self, client: PendingClient) -> None:
        """Return when the handshake may begin."""
        client.stage = HandshakeStage.WAITING
        if self._begun >= MOST_BEGUN:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(client.address, deque()).append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._end_turn()
                raise
        else:
            self._begun += 1
        client.stage = HandshakeStage.BEGUN

    def note_slow(self, client: PendingClient) -> bool:
        """Take its turn from a handshake that waits for its client. Returns False when too many handshakes wait so."""
        slow = sum(other.stage is HandshakeStage.SLOW for other in self._clients)
        if slow >= _MOST_SLOW and not self._drop_one((HandshakeStage.SLOW,)):
            return False
        client.stage = HandshakeStage.SLOW
        self._end_turn()
        return True

    def leave(self, client: PendingClient) -> None:
        """The handshake of a client has ended, or the client has gone."""
        self._clients.pop(client, None)
        if client.stage is HandshakeStage.BEGUN:
            self._end_turn()

    def _end_turn(self) -> None:
        """Give a turn to the next address."""
        self._begun -= 1
        while self._waiting:
            address = next(iter(self._waiting))
            turns = self._waiting.pop(address)
            turn = turns.popleft()
            if turns:
                self._waiting[address] = turns
            if not turn.done():
                self._begun += 1
                turn.set_result(None)
                return

    def _drop_one(self, stages: tuple[HandshakeStage, ...]) -> bool:
        """Drop the oldest client of the address that has most clients in some stages. Returns False for none."""
        by_address: dict[str, list[PendingClient]] = {}
        for client in self._clients:
            if client.stage in stages:
                by_address.setdefault(client.address, []).append(client)
        oldest = max(by_address.values(), key=len)[0] if by_address else None
        if oldest is None or self._clock.monotonic() - oldest.since < _LEAST_SECONDS:
            return False
        del self._clients[oldest]
        oldest.drop()
        return True


def _network_of(address: str) -> str:
    """The address, or for IPv6 its network."""
    if ":" not in address:
        return address
    parsed = ip_address(address.partition("%")[0])
    if not isinstance(parsed, IPv6Address) or parsed.ipv4_mapped is not None:
        return address
    return str(int(parsed) >> (parsed.max_prefixlen - _NETWORK_BITS))

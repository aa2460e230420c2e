"""Hostile answers: what a webhook, kubelet, pod or aggregated server may send to this server, as a table.

An answer is a beginning and what comes behind it without end. Plain data; attackers.py and the tests of the client
send it.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

_PIECE = 64 * 1024
_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class HostileAnswer(Struct, frozen=True):
    """beginning: sent once. without_end: repeated until the connection breaks; empty when nothing follows."""

    beginning: bytes
    without_end: bytes = b""

    async def send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        with suppress(OSError, EOFError):
            await reader.readuntil(b"\r\n\r\n")
            await self.answer(reader, writer)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a request that was read."""
        with suppress(OSError, EOFError):
            writer.write(self.beginning)
            await writer.drain()
            piece = self.without_end * (_PIECE // max(len(self.without_end), 1))
            while piece and not reader.at_eof():
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)  # with uvloop, drain does not tell that the client has gone
            await reader.read()  # until the client closes the connection


BEFORE_THE_BODY: Mapping[str, HostileAnswer] = {
    "early hints": HostileAnswer(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "continues": HostileAnswer(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "large hints": HostileAnswer(b"", b"HTTP/1.1 103 Early Hints\r\nLink: " + b"x" * 60_000 + b"\r\n\r\n"),
    "fields": HostileAnswer(b"HTTP/1.1 200 OK\r\n", b"a:\r\n"),
    "a field": HostileAnswer(b"HTTP/1.1 200 OK\r\na: ", b"x" * 64),
    "a field of lines": HostileAnswer(b"HTTP/1.1 200 OK\r\na: b", b"\r\n x"),
    "a reason": HostileAnswer(b"HTTP/1.1 200 ", b"x" * 64),
    "blank lines": HostileAnswer(b"", b"\r\n"),
    "no HTTP": HostileAnswer(b"SSH-2.0-OpenSSH_9.9\r\n", b"x" * 64),
    "no version": HostileAnswer(b"HTTP/9.9 200 OK\r\n\r\n", b"x" * 64),
    "a long status": HostileAnswer(b"HTTP/1.1 99999 OK\r\nContent-Length: 0\r\n\r\n"),
    "two lengths": HostileAnswer(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    "a negative length": HostileAnswer(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
    "another protocol": HostileAnswer(
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", b"x" * 64
    ),
}
"""No answer at all."""
IN_THE_BODY: Mapping[str, HostileAnswer] = {
    "an extension of a chunk": HostileAnswer(_CHUNKED + b"1;", b"x" * 64),
    "zeros of a size": HostileAnswer(_CHUNKED, b"0" * 64),
    "trailers": HostileAnswer(_CHUNKED + b"1\r\na\r\n0\r\n", b"a:\r\n"),
    "a trailer": HostileAnswer(_CHUNKED + b"1\r\na\r\n0\r\na: ", b"x" * 64),
    "no chunk": HostileAnswer(_CHUNKED, b"z" * 64),
}
"""Answers that break off."""
BEHIND_THE_BODY: Mapping[str, HostileAnswer] = {
    "more than a length": HostileAnswer(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", b"more " * 13),
    "more than chunks": HostileAnswer(_CHUNKED + b"4\r\nbody\r\n0\r\n\r\n", b"more " * 13),
    "answers": HostileAnswer(
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    ),
    "answers behind chunks": HostileAnswer(
        _CHUNKED + b"4\r\nbody\r\n0\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    ),
}
"""Whole answers, with bytes behind them."""
ENDLESS_BODIES: Mapping[str, HostileAnswer] = {
    "chunks of a byte": HostileAnswer(_CHUNKED, b"1\r\nx\r\n"),
    "chunks of a byte with extensions": HostileAnswer(_CHUNKED, b"1;a\r\nx\r\n"),
    "a body": HostileAnswer(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n", b"line of a log\n" * 64),
    "a body of HTTP/1.0": HostileAnswer(b"HTTP/1.0 200 OK\r\n\r\n", b"line of a log\n" * 64),
}
"""Answers that a client gets for as long as it reads."""
ALL: Mapping[str, HostileAnswer] = {**BEFORE_THE_BODY, **IN_THE_BODY, **BEHIND_THE_BODY, **ENDLESS_BODIES}

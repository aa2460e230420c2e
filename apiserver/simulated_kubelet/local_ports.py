"""local_ports: connects forwarded ports with ports of this machine's loopback, for --simulate-local-processes."""

import asyncio

from aio_apiserver.apiserver.outgoing import dial_words
from aio_apiserver.apiserver.outgoing.dialer import UNREACHABLE, Dialer, Peer
from aio_apiserver.apiserver.simulated_kubelet.channels import ContainerStreams
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base.locations import Location, Passage

_LOOPBACK = "127.0.0.1"
_CONNECT_SECONDS = 5.0
_PIECE = 64 * 1024


async def relay(streams: ContainerStreams, channel: int, port: int) -> None:
    """Relay the bytes of a channel to a local port, and its answer back until the local server ends it.

    Errors have the next channel.
    """
    location = Location(passage=Passage.PROXY, scheme="http", host=_LOOPBACK, port=str(port), path="")
    try:
        reader, writer = await Dialer(_CONNECT_SECONDS).open(location, Peer())
    except UNREACHABLE as exc:
        await streams.write(channel + 1, dial_words.of_relay(exc, location).encode())
        return
    tasks = Tasks()
    try:
        tasks.spawn(_send(streams, channel, writer), name=f"input of local port {port}")
        while data := await reader.read(_PIECE):
            await streams.write(channel, data)
    except ConnectionResetError:
        pass
    finally:
        await tasks.close()
        writer.close()


async def _send(streams: ContainerStreams, channel: int, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await streams.read(channel):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (BrokenPipeError, ConnectionResetError):
        return  # the local server has closed the connection

"""Long messages: a long protobuf list as a body in pieces, whose items are encoded while the client takes it.

A protobuf body begins with its length. So the items are encoded once before, for their lengths, and those that are not
kept are encoded again. Must hold: memory has the encodings of the first items, up to a bound, and one piece.
"""

from collections.abc import AsyncGenerator, Callable, Sequence

from aio_apiserver.apiserver.wire.long_bodies import PIECE_BYTES, JoinedList, LongBody
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import LENGTH, tag, varint
from aio_apiserver.storage.stored_object import StoredObject
from aio_apiserver.storage.yielding import in_slices

HELD_BYTES = 4 * 1024 * 1024
"""The encodings of one list in memory, besides those that all lists share."""

_ITEM = tag(2, LENGTH)
"""`items` is the last member of all lists."""

Encode = Callable[[StoredObject], bytes]
"""Encodes an object as a message with its length, always in the same way."""


async def list_message(
    kind: GroupVersionKind, head: bytes, items: Sequence[StoredObject], encode: Encode
) -> bytes | LongBody:
    """The body of a list with this message of its metadata. A long list yields to other requests."""
    found: list[bytes] = []
    size = 0
    async for part in in_slices(items):
        encoded = [item.encoded(encode) for item in part]
        size += sum(map(len, encoded))
        if size <= HELD_BYTES:
            found += encoded
    length = varint(len(head) + len(items) * len(_ITEM) + size)
    before, after = protobuf.around(kind.api_version, kind.kind)
    if len(found) < len(items):
        return MessageList((before + length + head, found, after), items[len(found) :], encode, size=size)
    first = b"".join((before, length, head, _ITEM if items else b""))
    whole = JoinedList(first, found, after, content_type=media_types.PROTOBUF, separator=_ITEM)
    return whole if whole.is_long else whole.joined()


class MessageList(LongBody):
    """A list of which some items are not encoded.

    parts: the bytes before all items, the first encoded items, the bytes behind all items. size: that of all encoded
    items.
    """

    def __init__(
        self,
        parts: tuple[bytes, Sequence[bytes], bytes],
        items: Sequence[StoredObject],
        encode: Encode,
        *,
        size: int,
    ) -> None:
        super().__init__(items, content_type=media_types.PROTOBUF)
        self._before, self._encoded, self._after = parts
        self._items = items
        self._encode = encode
        count = len(self._encoded) + len(items)
        self._size = len(self._before) + count * len(_ITEM) + size + len(self._after)

    async def pieces(self) -> AsyncGenerator[bytes]:
        piece = bytearray(self._before)
        async for made in self._messages():
            piece += _ITEM
            piece += made
            if len(piece) >= PIECE_BYTES:
                yield bytes(piece)
                piece.clear()
        yield bytes(piece) + self._after

    async def _messages(self) -> AsyncGenerator[bytes]:
        for message in self._encoded:
            yield message
        async for part in in_slices(self._items):
            for item in part:
                yield item.encoded(self._encode)

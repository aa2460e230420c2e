"""Long messages: a long list as a body in pieces, whose items are encoded while the client takes it.

Its length goes out first. So the items are encoded once before, for their lengths, and those that are not kept are
encoded again. Must hold: memory has the encodings of the first items, up to a bound, and one piece.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import NamedTuple

from aio_apiserver.apiserver.wire.long_bodies import PIECE_BYTES, JoinedList, LongBody
from aio_apiserver.base.yielding import in_slices, in_turns
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import LENGTH, tag, varint
from aio_apiserver.storage.stored_object import StoredObject

HELD_BYTES = 4 * 1024 * 1024
"""The encodings of one list in memory, besides those that all lists share."""

_ITEM = tag(2, LENGTH)
"""`items` is the last member of all lists."""

Encode = Callable[[Sequence[StoredObject]], Iterable[bytes]]
"""Encodes objects as items of the list, always in the same way."""


class EncodedItems(NamedTuple):
    """The items of a list: their number and length, the first of them encoded, and the rest with its encoder."""

    encode: Encode
    first: Sequence[bytes]
    rest: Sequence[StoredObject]
    number: int
    size: int


async def encoded_items(items: Sequence[StoredObject], encode: Encode) -> EncodedItems:
    """The items, of which the first are held encoded. A long list yields to other requests."""
    first: list[bytes] = []
    size = 0
    async for part in in_slices(items):
        encoded = list(encode(part))
        size += sum(map(len, encoded))
        if size <= HELD_BYTES:
            first += encoded
    return EncodedItems(encode, first, items[len(first) :], len(items), size)


async def list_message(
    kind: GroupVersionKind, head: bytes, items: Sequence[StoredObject], encode: Encode
) -> bytes | LongBody:
    """The body of a list with this message of its metadata."""
    found = await encoded_items(items, encode)
    length = varint(len(head) + found.number * len(_ITEM) + found.size)
    before, after = protobuf.around(kind.api_version, kind.kind)
    first = b"".join((before, length, head, _ITEM if items else b""))
    return list_of(found, first, after, content_type=media_types.PROTOBUF, separator=_ITEM)


def list_of(
    items: EncodedItems,
    head: bytes,
    tail: bytes,
    *,
    content_type: str,
    separator: bytes = b",",
    is_made: bool = False,
) -> bytes | LongBody:
    """The body of a list. is_made: to encode the rest takes little more work than to send it."""
    if items.rest:
        return EncodedList(items, head, tail, content_type=content_type, separator=separator, is_made=is_made)
    return JoinedList(head, items.first, tail, content_type=content_type, separator=separator).fitting()


class EncodedList(LongBody):
    """A list of which some items are not encoded."""

    def __init__(
        self, items: EncodedItems, head: bytes, tail: bytes, *, content_type: str, separator: bytes, is_made: bool
    ) -> None:
        super().__init__(items, content_type=content_type)
        self.is_made = is_made
        self._items = items
        self._head, self._separator, self._tail = head, separator, tail
        self._size = len(head) + items.size + (items.number - 1) * len(separator) + len(tail)

    async def pieces(self) -> AsyncGenerator[bytes]:
        piece = bytearray(self._head)
        is_first = True
        async for item in self._encoded():
            if not is_first:
                piece += self._separator
            is_first = False
            piece += item
            if len(piece) >= PIECE_BYTES:
                yield bytes(piece)
                piece.clear()
        yield bytes(piece) + self._tail

    async def _encoded(self) -> AsyncGenerator[bytes]:
        for item in self._items.first:
            yield item
        async for stored in in_turns(self._items.rest):
            for item in self._items.encode((stored,)):
                yield item

"""List bodies: a list as a body whose items are encoded while the client takes it.

A short list is encoded at once. The length of a long one is not known before, so it goes out in chunks, as those of
kube-apiserver do. A protobuf list begins with its length: its items are encoded once before, for their lengths, and
those that no object keeps are encoded again.

Must hold: memory has HELD_BYTES of items, a slice, and one piece. Encoding that takes long runs in the worker thread,
in which users have equal shares. So a client that takes its list slowly needs no seat of flow control.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence, Sized
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from aio_apiserver.apiserver.wire.long_bodies import JoinedList, LongBody
from aio_apiserver.base import worker_thread
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import LENGTH, tag, varint
from aio_apiserver.storage.stored_object import StoredObject, sizes_of_all

HELD_BYTES = 128 * 1024
"""The items of one list that are encoded before its response begins."""
_SLICE_BYTES = 256 * 1024
"""The stored bytes of objects that are encoded in one go."""

_NOTHING: Sequence[Any] = ()
_ITEM = tag(2, LENGTH)
"""`items` is the last member of all lists."""


class ItemEncoder(NamedTuple):
    """How objects become items, always in the same way. Both functions are pure.

    keep: makes what the object keeps for the next list; None when nothing is kept. finish: makes the items of objects
    from what they keep; None when that is the items. is_copy: whether it takes little more than to copy the bytes.
    """

    keep: Callable[[StoredObject], Sized] | None = None
    finish: Callable[[Sequence[StoredObject], Sequence[Any]], list[bytes]] | None = None
    is_copy: bool = True


class ListFrame(NamedTuple):
    """What a list has before its items, between them, and behind them."""

    head: bytes
    tail: bytes
    separator: bytes = b","


class Listed(NamedTuple):
    """The objects of a list, how they are encoded, and their user."""

    objects: Sequence[StoredObject]
    encoder: ItemEncoder
    user: str

    async def slices(self, start: int = 0) -> AsyncIterator[list[bytes]]:
        """The items from one on, in slices. Other requests have their turns between them."""
        async for objects in in_turns(_slices(self.objects, start)):
            yield await _encoded(objects, self.encoder, self.user)


async def body_of(listed: Listed, frame: ListFrame, content_type: str) -> bytes | LongBody:
    """The body of a list."""
    first: list[bytes] = []
    size = 0
    async for items in listed.slices():
        first += items
        size += sum(map(len, items))
        if size > HELD_BYTES:
            break
    if len(first) == len(listed.objects):
        return JoinedList(*frame, first, content_type=content_type).fitting()
    return EncodedList(listed, frame, first, content_type=content_type)


async def message_of(listed: Listed, kind: GroupVersionKind, head: bytes) -> bytes | LongBody:
    """The protobuf body of a list with this message of its metadata."""
    first: list[bytes] = []
    number = size = 0
    async for items in listed.slices():
        is_held = size <= HELD_BYTES
        number += len(items)
        size += sum(map(len, items))
        if is_held:
            first += items
    length = varint(len(head) + number * len(_ITEM) + size)
    before, after = protobuf.around(kind.api_version, kind.kind)
    frame = ListFrame(b"".join((before, length, head, _ITEM if number else b"")), after, _ITEM)
    if len(first) == number:
        return JoinedList(*frame, first, content_type=media_types.PROTOBUF).fitting()
    total = len(frame.head) + size + (number - 1) * len(_ITEM) + len(after)
    return EncodedList(listed, frame, first, content_type=media_types.PROTOBUF, size=total)


class EncodedList(LongBody):
    """A list of which some items are not encoded. It is sent once. size: its length, if that is known."""

    def __init__(
        self,
        listed: Listed,
        frame: ListFrame,
        first: Sequence[bytes],
        *,
        content_type: str,
        size: int | None = None,
    ) -> None:
        super().__init__(listed, content_type=content_type, held=len(listed.objects))
        self._listed = listed
        self._frame = frame
        self._first = first
        self._size = size

    async def pieces(self) -> AsyncGenerator[bytes]:
        head, tail, separator = self._frame
        items, self._first = list(self._first), ()
        number = len(items)
        yield head + separator.join(items)
        items.clear()
        async for items in self._listed.slices(number):
            piece = separator + separator.join(items)
            items.clear()  # long items would be held twice
            yield piece
            del piece
        yield tail


def _slices(objects: Sequence[StoredObject], start: int) -> Iterator[Sequence[StoredObject]]:
    """The objects from one on, in slices of about the same size."""
    size, begin = 0, start
    for end, one in enumerate(islice(sizes_of_all(objects), start, None), start + 1):
        size += one
        if size >= _SLICE_BYTES:
            yield objects[begin:end]
            size, begin = 0, end
    if begin < len(objects):
        yield objects[begin:]


async def _encoded(objects: Sequence[StoredObject], encoder: ItemEncoder, user: str) -> list[bytes]:
    """The items of a slice."""
    keep = encoder.keep
    if keep is None:
        work = 0 if encoder.is_copy else sum(sizes_of_all(objects))
        return (await worker_thread.run_sized(partial(_encoded_slice, objects, _NOTHING, encoder), work, user)).items
    kept = [stored.kept_encoding(keep) for stored in objects]
    missing = [stored for stored, made in zip(objects, kept, strict=True) if made is None]
    if not missing and encoder.is_copy:
        return _finished(objects, kept, encoder)
    work = sum(sizes_of_all(missing if encoder.is_copy else objects))
    made = await worker_thread.run_sized(partial(_encoded_slice, objects, kept, encoder), work, user)
    for stored, one in zip(objects, made.kept, strict=True):
        stored.keep(keep, one)
    return made.items


class _EncodedSlice(NamedTuple):
    """The items of a slice, and what their objects may keep."""

    items: list[bytes]
    kept: Sequence[Any]


def _encoded_slice(objects: Sequence[StoredObject], kept: Sequence[Any], encoder: ItemEncoder) -> _EncodedSlice:
    """Pure: it may run in the worker thread."""
    keep = encoder.keep
    if keep is not None:
        kept = [keep(stored) if made is None else made for stored, made in zip(objects, kept, strict=True)]
    return _EncodedSlice(_finished(objects, kept, encoder), kept)


def _finished(objects: Sequence[StoredObject], kept: Sequence[Any], encoder: ItemEncoder) -> list[bytes]:
    return list(kept) if encoder.finish is None else encoder.finish(objects, kept)

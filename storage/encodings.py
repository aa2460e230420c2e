"""Encodings: what StoredObjects are in forms beside JSON, made once a revision and kept while clients ask for them.

A server hands out the same pods as protobuf to every kubelet and controller, and as table rows to people. Knows no
form: what an encoder makes has a length, in bytes.

Must hold: what is kept is let go with the revision that it shows; all of it together stays below the limit. When there
is no room, what nobody has asked for lately makes room; a list longer than the limit does not push out all of itself.
"""

from collections.abc import Mapping, Sized
from weakref import ref

LIMIT_BYTES = 64 * 1024 * 1024
"""For all objects of a server together: some 40,000 pods in one form."""

_OVERHEAD_BYTES = 400
"""What keeping takes besides what is kept, for each object."""


class KeptEncodings:
    """What is kept of one StoredObject, which owns it. `pairs`: the encoders, and what each has made."""

    __slots__ = ("__weakref__", "is_used", "pairs")

    def __init__(self) -> None:
        self.pairs: tuple[tuple[object, Sized], ...] = ()
        self.is_used = True


class Encodings:
    """Keeps encodings of many objects, as many as there is room for."""

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self._limit = limit
        self._bytes = self._made = self._dropped = 0
        self._sizes: dict[ref[KeptEncodings], int] = {}
        """In the order in which they are to make room."""

    def add(self, kept: KeptEncodings, encoder: object, made: Sized) -> None:
        """Keep what an encoder has made, if there is room."""
        self._made += 1
        size = len(made) if kept.pairs else len(made) + _OVERHEAD_BYTES
        if not self._has_room(size):
            return
        kept.pairs += ((encoder, made),)
        entry = ref(kept, self._forget)
        self._sizes[entry] = self._sizes.get(entry, 0) + size
        self._bytes += size

    def statistics(self) -> Mapping[str, int]:
        return {"objects": len(self._sizes), "bytes": self._bytes, "made": self._made, "dropped": self._dropped}

    def _has_room(self, size: int) -> bool:
        """Whether there is room, for which what was not used lately is dropped, but nothing that was."""
        while self._bytes + size > self._limit:
            oldest = next(iter(self._sizes), None)
            kept = oldest() if oldest is not None else None
            if oldest is None or kept is None:
                return False
            if kept.is_used:
                kept.is_used = False
                self._sizes[oldest] = self._sizes.pop(oldest)
                return False
            kept.pairs = ()
            self._dropped += 1
            self._forget(oldest)
        return True

    def _forget(self, entry: "ref[KeptEncodings]") -> None:
        self._bytes -= self._sizes.pop(entry, 0)

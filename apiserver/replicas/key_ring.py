"""Key ring: a shared secret with its predecessors, newest first.

Pure. During a rotation the ring has the new secret and the old ones: all are accepted, one is used. A new secret is
used GRACE_SECONDS after it was made. All replicas look every LOOK_SECONDS, so all accept it by then.
"""

from collections.abc import Sequence
from typing import Self

import msgspec
from msgspec import Struct

LOOK_SECONDS = 10.0
GRACE_SECONDS = 30.0


class InvalidKeyRing(ValueError):
    """A stored value that is no key ring."""


class KeyVersion(Struct, frozen=True):
    """A secret as text. made: seconds since the epoch."""

    made: float
    secret: str


class KeyRing(Struct, frozen=True):
    """The secrets of one purpose, newest first; there is at least one."""

    versions: Sequence[KeyVersion]

    @classmethod
    def of(cls, secret: str, now: float) -> Self:
        return cls([KeyVersion(now, secret)])

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Raises InvalidKeyRing."""
        try:
            ring = msgspec.json.decode(data, type=cls)
        except msgspec.DecodeError as exc:
            raise InvalidKeyRing(f"not a key ring: {exc}") from exc
        if not ring.versions:
            raise InvalidKeyRing("a key ring without keys")
        return ring

    def dump(self) -> bytes:
        return msgspec.json.encode(self)

    @property
    def secrets(self) -> Sequence[str]:
        """All that are accepted, newest first."""
        return [version.secret for version in self.versions]

    @property
    def newest(self) -> KeyVersion:
        return self.versions[0]

    @property
    def is_rotating(self) -> bool:
        return len(self.versions) > 1

    def used(self, now: float) -> str:
        """The secret to use: the newest one that all replicas know by now."""
        known = [version for version in self.versions if version.made + GRACE_SECONDS <= now]
        return (known[0] if known else self.versions[-1]).secret

    def rotated(self, secret: str, now: float) -> "KeyRing":
        """With a new secret in front."""
        return KeyRing([KeyVersion(now, secret), *self.versions])

    def finished(self) -> "KeyRing":
        """With the newest secret alone."""
        return KeyRing([self.newest])

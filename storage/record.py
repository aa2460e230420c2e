"""Record: one key of a store at one revision."""

from msgspec import Struct


class Record(Struct, frozen=True, array_like=True):
    """One key at one revision. `version` counts the writes since the key was created, from 1."""

    key: bytes
    value: bytes
    create_revision: int
    mod_revision: int
    version: int
    lease: int = 0

"""Sources: the releases of Kubernetes that the generated tables were made from.

sources.json is generated with the other tables (scripts/upstream/tables/sources.py). Must hold: definitions with the
checksum in it were compared with the tables when these were made, and have all of their fields in them.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from aio_apiserver.registry.machinery.schema import definitions


class TableSource(Struct, frozen=True):
    """The source of one minor: the release, and the checksum of the definitions of the minor."""

    release: str
    definitions: str


def release_of(minor: str) -> str:
    """The release that the tables have the facts of a minor from; empty without one."""
    source = _sources().get(minor)
    return "" if source is None else source.release


def are_compared(minor: str) -> bool:
    """Whether the installed definitions of a minor are those that the tables were compared with."""
    source = _sources().get(minor)
    return source is not None and source.definitions == definitions.checksum(minor)


@cache
def _sources() -> Mapping[str, TableSource]:
    rows = msgspec.json.decode(Path(__file__).with_name("sources.json").read_bytes(), type=dict[str, msgspec.Raw])
    return {name: msgspec.json.decode(row, type=TableSource) for name, row in rows.items() if name != "_generated"}

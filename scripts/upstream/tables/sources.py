"""sources: the table of the releases that the other tables were made from.

    registry/machinery/schema/sources.json

A row is a minor with its release and the checksum of its definitions. A server whose definitions have this checksum
knows, without a look at them, that the tables have all of their fields.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base.timeline import Version, text_of, version_of
from aio_apiserver.registry.machinery.schema import definitions
from scripts.upstream.facts.release import Release
from scripts.upstream.tables import table
from scripts.upstream.tables.table import GENERATED, Origin

_PATH = "registry/machinery/schema/sources.json"

Source = Mapping[str, str]


class Sources:
    """The table of releases."""

    title = "releases"

    def read(self, release: Release) -> Source:
        return {"release": release.tree.release, "definitions": definitions.checksum(release.text)}

    def paths(self, root: Path) -> Sequence[str]:
        return [_PATH]

    def parsed(self, texts: Mapping[str, str]) -> Mapping[Version, Source]:
        rows: dict[str, Any] = orjson.loads(texts[_PATH])
        del rows[GENERATED]
        return {version_of(minor): source for minor, source in rows.items()}

    def files(self, facts: Mapping[Version, Source], origin: Origin, paths: Sequence[str]) -> Mapping[str, str]:
        lines = [f" {table.compact(text_of(minor))}: {table.compact(facts[minor])}" for minor in sorted(facts)]
        return {
            _PATH: "{\n" + ",\n".join([f" {table.compact(GENERATED)}: {table.compact(origin.key)}", *lines]) + "\n}\n"
        }

    def rows(self, facts: Source) -> Mapping[str, object]:
        return facts

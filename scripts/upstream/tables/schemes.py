"""schemes: the table of the places in kube-apiserver's source that messages name as schemes.

    registry/base/schemes.json

A row is the place by the minor since which it is there.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base.timeline import Version, text_of, version_of
from scripts.upstream.facts import schemes
from scripts.upstream.facts.release import Release
from scripts.upstream.tables import table
from scripts.upstream.tables.table import GENERATED, Origin

_PATH = "registry/base/schemes.json"


class Schemes:
    """The table of schemes."""

    title = "schemes"

    def read(self, release: Release) -> Mapping[str, str]:
        return schemes.of_release(release)

    def paths(self, root: Path) -> Sequence[str]:
        return [_PATH]

    def parsed(self, texts: Mapping[str, str]) -> Mapping[Version, Mapping[str, str]]:
        rows: dict[str, Any] = orjson.loads(texts[_PATH])
        minors = [table.minor_of(one) for one in rows.pop(GENERATED)["from"]]
        return {minor: {name: _at(row, minor) for name, row in rows.items()} for minor in minors}

    def files(
        self, facts: Mapping[Version, Mapping[str, str]], origin: Origin, paths: Sequence[str]
    ) -> Mapping[str, str]:
        texts = [f" {table.compact(GENERATED)}: {table.compact(origin.key)}"]
        for name in sorted(facts[max(facts)]):
            spans = table.spans({minor: places[name] for minor, places in facts.items()})
            row = {text_of(since or min(facts)): place for since, _, place in spans}
            texts.append(f" {table.compact(name)}: {table.compact(row)}")
        return {_PATH: "{\n" + ",\n".join(texts) + "\n}\n"}

    def rows(self, facts: Mapping[str, str]) -> Mapping[str, object]:
        return facts


def _at(row: Mapping[str, str], minor: Version) -> str:
    return row[text_of(max(since for since in map(version_of, row) if since <= minor))]

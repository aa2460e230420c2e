"""internal_types: the tables of the structs that error messages print.

    registry/groups/<group>/internal_types.txt

A row is a struct: its name, and a cell for each field; registry/base/validation/internal.py explains them. A cell
`~field` is a field of the object that the struct does not have. A row `core.PodSpec@1.33,1.34` is the struct in these
minors.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from aio_apiserver.registry.base.timeline import Version
from scripts.upstream.facts import internal_structs
from scripts.upstream.facts.release import Release
from scripts.upstream.tables import table
from scripts.upstream.tables.table import Origin

Structs = Mapping[str, Sequence[str]]
"""The cells of each struct, by `group.Struct`."""
_GROUPS = "registry/groups"
_FILE = "internal_types.txt"
_ABSENT = "~"
_EXPLAINED = "registry/base/validation/internal.py explains the rows."


class InternalTypes:
    """The tables of internal structs."""

    title = "internal structs"

    def read(self, release: Release) -> Structs:
        return {
            f"{group}.{name}": [*struct.cells, *(f"{_ABSENT}{field}" for field in struct.absent)]
            for group in internal_structs.groups(release)
            for name, struct in internal_structs.of_group(release, group).items()
        }

    def paths(self, root: Path) -> Sequence[str]:
        return [f"{_GROUPS}/{folder}/{_FILE}" for folder in table.folders(root / _GROUPS)]

    def parsed(self, texts: Mapping[str, str]) -> Mapping[Version, Structs]:
        rows = [line.split() for text in texts.values() for line in text.splitlines() if not line.startswith("#")]
        minors = {minor for text in texts.values() for minor in table.minors_of_line(text.partition("\n")[0])}
        return {minor: _of_minor(rows, minor) for minor in sorted(minors)}

    def files(self, facts: Mapping[Version, Structs], origin: Origin, paths: Sequence[str]) -> Mapping[str, str]:
        texts: dict[str, list[str]] = {path: [f"# {origin.line} {_EXPLAINED}"] for path in paths}
        for name in sorted({name for structs in facts.values() for name in structs}):
            path = f"{_GROUPS}/{name.partition('.')[0]}/{_FILE}"
            rows = {minor: " ".join(structs[name]) for minor, structs in facts.items() if name in structs}
            newest, different = table.variants(table.filled(rows, facts))
            lines = [f"{name} {newest}", *(f"{name}@{minors} {row}" for minors, row in different.items())]
            texts.get(path, []).extend(lines)
        return {path: "\n".join(lines) + "\n" for path, lines in texts.items() if len(lines) > 1}

    def rows(self, facts: Structs) -> Mapping[str, object]:
        return {f"{name} {cell.partition(':')[0]}": cell for name, cells in facts.items() for cell in cells}


def _of_minor(rows: Sequence[Sequence[str]], minor: Version) -> Structs:
    structs: dict[str, Sequence[str]] = {}
    for key, *cells in sorted(rows, key=lambda row: "@" in row[0]):
        name, at, minors = key.partition("@")
        if not at or minor in table.minors_of(minors):
            structs[name] = cells
    return structs

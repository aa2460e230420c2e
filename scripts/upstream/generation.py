"""Generation: makes all tables from the sources of releases, and compares them with those of the product."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aio_apiserver.registry.base.golang.decode_errors import UnknownMinor
from aio_apiserver.registry.base.timeline import PATCHES, Version, text_of
from aio_apiserver.registry.machinery.schema import definitions
from scripts.upstream import trees
from scripts.upstream.facts.release import Release
from scripts.upstream.problems import Unusable
from scripts.upstream.tables.gates import Gates
from scripts.upstream.tables.internal_types import InternalTypes
from scripts.upstream.tables.parameters import QueryParameters
from scripts.upstream.tables.roles import BootstrapRoles
from scripts.upstream.tables.schemes import Schemes
from scripts.upstream.tables.sources import Sources
from scripts.upstream.tables.table import Origin, Table
from scripts.upstream.tables.type_facts import TypeFacts
from scripts.upstream.tables.varying_types import VaryingTypes
from scripts.upstream.tables.wire_fields import WireFields

Rows = Mapping[str, object]


@dataclass(frozen=True)
class Made:
    """A table as it should be. files: their texts by path. before and after: the facts in the files, by minor."""

    title: str
    files: Mapping[str, str]
    before: Mapping[Version, Rows]
    after: Mapping[Version, Rows]


TABLES: Sequence[Table[Any]] = (
    Sources(),
    WireFields(),
    TypeFacts(),
    VaryingTypes(),
    InternalTypes(),
    Gates(),
    BootstrapRoles(),
    QueryParameters(),
    Schemes(),
)
"""All tables that are taken from Kubernetes."""


def made(root: Path, source: Path, minors: Sequence[Version]) -> list[Made]:
    """All tables with the facts of these minors. Raises NotUnderstood and Unusable."""
    read: list[dict[Version, Any]] = [{} for _ in TABLES]
    for minor in minors:
        tree = trees.opened(source, PATCHES[minor])
        try:
            release = Release(minor, tree, _definitions(minor))
            for table, facts in zip(TABLES, read, strict=True):
                facts[minor] = table.read(release)
        finally:
            tree.close()
    return [_made(root, table, facts) for table, facts in zip(TABLES, read, strict=True)]


def _made(root: Path, table: Table[Any], read: Mapping[Version, Any]) -> Made:
    """A table with the facts that were read, beside those of the other minors that it has already."""
    paths = table.paths(root)
    texts = {path: (root / path).read_text() for path in paths if (root / path).exists()}
    before = table.parsed(texts)
    facts = {**{minor: before[minor] for minor in before if minor in PATCHES}, **read}
    files = table.files(facts, Origin({minor: PATCHES[minor] for minor in facts}), paths)
    return Made(table.title, files, _rows(table, before), _rows(table, table.parsed(files)))


def _rows(table: Table[Any], facts: Mapping[Version, Any]) -> Mapping[Version, Rows]:
    return {minor: table.rows(of_minor) for minor, of_minor in facts.items()}


def different(root: Path, all_made: Iterable[Made]) -> list[str]:
    """The paths of the files that are not as they should be."""
    paths = ((path, text) for one in all_made for path, text in one.files.items())
    return sorted(path for path, text in paths if not (root / path).exists() or (root / path).read_text() != text)


def write(root: Path, all_made: Iterable[Made]) -> None:
    """Write all files."""
    for one in all_made:
        for path, text in one.files.items():
            (root / path).write_text(text)


def _definitions(minor: Version) -> definitions.Definitions:
    try:
        return definitions.load(text_of(minor))
    except UnknownMinor as exc:
        raise Unusable(f"{exc}: install a kubernetes-validate that has them") from exc

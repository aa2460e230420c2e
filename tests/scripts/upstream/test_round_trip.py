"""What the tables have is what the generator reads from a source tree that was written from them."""

from pathlib import Path

import pytest

from aio_apiserver.registry.base.timeline import PATCHES, Version, text_of
from aio_apiserver.registry.machinery.schema import definitions
from scripts.upstream import changes, generation
from scripts.upstream.generation import Made
from scripts.upstream.tables.table import GENERATED, Origin, Table
from tests.paths import ROOT
from tests.scripts.upstream import source_tree

NEWEST = max(PATCHES)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kubernetes")
    source_tree.write(folder, source_tree.facts_of(ROOT, NEWEST), definitions.load(text_of(NEWEST)))
    return folder


def test_the_same_sources_make_the_same_tables(sources: Path) -> None:
    all_made = generation.made(ROOT, sources, [NEWEST])

    assert [one for made in all_made for one in changes.changes(made)] == []
    assert generation.different(ROOT, all_made) == []


@pytest.mark.parametrize("table", generation.TABLES, ids=lambda table: table.title)
def test_a_table_is_written_as_it_was_read(table: Table[object]) -> None:
    texts = texts_of(table)

    facts = table.parsed(texts)

    assert table.files(facts, table_origin(facts), table.paths(ROOT)) == texts


@pytest.mark.parametrize("table", generation.TABLES, ids=lambda table: table.title)
def test_every_table_names_the_releases_of_all_minors(table: Table[object]) -> None:
    releases = list(PATCHES.values())

    for path, text in texts_of(table).items():
        head = text.splitlines()[1] if path.endswith(".json") else text.splitlines()[0]
        assert all(release in head for release in releases), path
        assert GENERATED in head or head.startswith("# Generated"), path


def test_a_changed_source_is_reported_by_table_and_minor(sources: Path) -> None:
    path = sources / "pkg" / "features" / "types.go"
    text = path.read_text()
    path.write_text(
        text.replace('version.MustParse("1.37"), Default: true', 'version.MustParse("1.37"), Default: false')
    )
    try:
        all_made = generation.made(ROOT, sources, [NEWEST])
    finally:
        path.write_text(text)

    [gates] = [one for made in all_made for one in changes.changes(made)]
    assert (gates.title, gates.minor, gates.new, gates.gone) == ("feature gates", NEWEST, [], [])
    assert "HPAScaleToZero" in gates.changed
    assert "feature gates  1.37   0" in changes.text([gates])


def texts_of(table: Table[object]) -> dict[str, str]:
    return {path: (ROOT / path).read_text() for path in table.paths(ROOT) if (ROOT / path).exists()}


def table_origin(facts: object) -> Origin:
    assert isinstance(facts, dict)
    minors: list[Version] = list(facts)
    return Origin({minor: PATCHES[minor] for minor in minors})


def test_a_minor_without_changes_says_so() -> None:
    made = Made("gates", {}, {NEWEST: {"A": 1}}, {NEWEST: {"A": 1}})

    assert changes.text(list(changes.changes(made))) == "No fact has changed.\n"


def test_a_new_minor_is_compared_with_the_one_before() -> None:
    made = Made("gates", {}, {(1, 37): {"A": 1, "B": 1}}, {(1, 37): {"A": 1, "B": 1}, (1, 38): {"A": 2, "C": 1}})

    [change] = changes.changes(made)

    assert (change.new, change.changed, change.gone) == (["C"], ["A"], ["B"])

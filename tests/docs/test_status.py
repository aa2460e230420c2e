"""README's table of what works is docs/status.toml, and each row has tests."""

import re
import tomllib
from typing import Any

import pytest

from tests.paths import ROOT

AREAS: list[dict[str, Any]] = tomllib.loads((ROOT / "docs" / "status.toml").read_text())["area"]
STATES = {"done", "missing"}


def table() -> str:
    rows = "".join(f"| {area['name']} | {area['state']} |\n" for area in AREAS)
    return f"| area | state |\n| --- | --- |\n{rows}"


def test_the_readme_shows_the_areas() -> None:
    readme = (ROOT / "README.md").read_text()

    found = re.search(r"\| area \| state \|\n(?:\|.*\n)+", readme)

    assert found is not None
    assert found[0] == table()


@pytest.mark.parametrize("area", AREAS, ids=[area["name"][:40] for area in AREAS])
def test_an_area_that_is_done_has_tests(area: dict[str, Any]) -> None:
    paths = [ROOT / path for path in area["tests"]]

    assert area["state"] in STATES
    assert all(path.exists() for path in paths)
    assert bool(paths) == (area["state"] == "done")
    assert all(path.is_file() or any(path.rglob("test_*.py")) for path in paths)

"""The installed size: the server and its dependencies take no more space than docs/how-to/docker.md says."""

import re
from importlib import metadata
from pathlib import Path

from tests.house.sources import FOLDERS
from tests.paths import ROOT
from tests.test_locks import pins

MEGABYTE = 1_000_000


def size_of(package: str) -> int:
    """The bytes of an installed package, without what Python compiles."""
    paths = [Path(str(file.locate())) for file in metadata.files(package) or () if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.exists())


def test_the_installed_size_is_the_one_that_is_stated() -> None:
    page = (ROOT / "docs" / "how-to" / "docker.md").read_text()
    stated = {name: int(number) for name, number in re.findall(r"^\| (.+?) \| (\d+) MB \|", page, re.MULTILINE)}
    sources = [
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]
    measured = {name: size_of(name) for name in pins("requirements.lock")}

    total = sum(measured.values()) + sum(path.stat().st_size for path in sources)

    assert 0.9 * stated["all of it"] < total / MEGABYTE <= stated["all of it"]
    for name in set(stated) & set(measured):
        assert measured[name] / MEGABYTE <= stated[name]

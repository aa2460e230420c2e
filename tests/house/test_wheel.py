"""The wheel: the same from a clone and from an sdist, and at peace with the modules of a user's project.

The editable form of it leads to the sources, and has no copy of them.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.house.sources import FOLDERS
from tests.paths import ROOT

MAN_PAGE = "share/man/man1/apiserver.1"
"""The one file that the wheel puts outside of the package."""
PROJECT = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "apiserver.py": "OWNER = 'the project'\n",
    "storage.py": "OWNER = 'the project'\n",
    "registry/__init__.py": "OWNER = 'the project'\n",
    "controllers/__init__.py": "OWNER = 'the project'\n",
    "test_ours.py": """
import sys

import apiserver as ours
import controllers
import registry
import storage
from aio_apiserver.testing import Server

MAPS = "/api/v1/namespaces/default/configmaps"


def test_the_server_serves_and_the_modules_are_ours(apiserver):
    with apiserver.client() as client:
        client.request("POST", MAPS, {"metadata": {"name": "mine"}})
        names = [one["metadata"]["name"] for one in client.request("GET", MAPS)["items"]]

    assert isinstance(apiserver, Server)
    assert "mine" in names
    assert {one.OWNER for one in (ours, controllers, registry, storage)} == {"the project"}
    assert Server.__init__.__code__.co_filename.startswith(sys.prefix)
""",
}


def built(root: Path, target: str, directory: Path) -> Path:
    """An archive of a folder with the project."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(directory)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    return next(directory.iterdir())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


def contents(wheel: Path) -> Mapping[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_wheel_from_the_sdist_is_that_from_the_clone(wheel: Path, tmp_path: Path) -> None:
    sdist = built(ROOT, "sdist", tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "extracted", filter="data")

    again = built(next((tmp_path / "extracted").iterdir()), "wheel", tmp_path / "wheel")

    ours, theirs = contents(wheel), contents(again)
    assert sorted(ours) == sorted(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []


def test_a_wheel_has_each_file_of_the_folders_and_one_package(wheel: Path) -> None:
    files = [
        file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.is_file() and file.suffix != ".pyc"
    ]

    names = set(contents(wheel))

    others = {name for name in names if ".dist-info/" not in name and not name.startswith("aio_apiserver/")}
    assert [name.partition(".data/data/")[2] for name in others] == [MAN_PAGE]
    assert {f"aio_apiserver/{file.relative_to(ROOT)}" for file in files} - names == set()


def test_an_editable_installation_has_no_copy_of_the_sources(tmp_path: Path) -> None:
    names = contents(built(ROOT, "wheel:editable", tmp_path))

    assert [name for name in names if name.startswith("aio_apiserver/")] == []
    assert names["_aio_apiserver.pth"].decode() == str(ROOT / "src")


def test_a_project_with_modules_of_our_names_uses_the_fixture(wheel: Path, tmp_path: Path) -> None:
    project, environment = tmp_path / "project", tmp_path / "venv"
    for name, text in PROJECT.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    packages = next((environment / "lib").glob("python*")) / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)  # noqa: S202 - our own archive; all that installing a wheel of Python code is
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))

    alone = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=project, env=alone, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout

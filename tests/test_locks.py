"""Locks: the lock files agree with pyproject.toml, and pin each package that an installation needs with its hashes."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.paths import ROOT
from tests.test_dependencies import FIXED_IN, numbers

LOCKS: Mapping[str, Callable[[dict[str, Any]], list[str]]] = {
    "requirements.lock": lambda project: project["project"]["dependencies"],
    "build-requirements.lock": lambda project: [
        *project["dependency-groups"]["build"],
        *project["build-system"]["requires"],
    ],
}
_PIN = re.compile(
    r"^([a-z0-9-]+)==(\S+)(?: ; ([^\\\n]+?))? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def pins(lock: str) -> Mapping[str, str]:
    """The locked versions by package."""
    return {name: version for name, version, _, _ in _PIN.findall((ROOT / lock).read_text())}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_what_pyproject_admits(lock: str) -> None:
    locked = pins(lock)
    wanted = [Requirement(one) for one in LOCKS[lock](project())]

    wrong = [str(one) for one in wanted if not one.specifier.contains(locked.get(canonicalize_name(one.name), "0"))]

    assert wrong == [], "run scripts/lock"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_versions_and_hashes_alone(lock: str) -> None:
    """No index is named, so the installation's own configuration decides where packages come from."""
    text = (ROOT / lock).read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("    ")]

    assert len(lines) == len(_PIN.findall(text))
    assert "://" not in text


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_all_that_the_pinned_packages_need(lock: str) -> None:
    """Without it, pip refuses the whole lock. Packages that are installed in another version here are left out."""
    locked = pins(lock)
    same = [name for name, version in locked.items() if metadata.version(name) == version]

    missing = {(name, needed) for name in same for needed in _needs(name) if needed not in locked}

    assert missing == set()


def _needs(name: str) -> Iterator[str]:
    """The packages that an installed package needs on this machine."""
    for text in metadata.requires(name) or ():
        needed = Requirement(text)
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            yield canonicalize_name(needed.name)


@pytest.mark.parametrize(("name", "fixed", "advisories"), FIXED_IN)
def test_no_locked_version_has_a_known_advisory(name: str, fixed: str, advisories: str) -> None:
    locked = pins("requirements.lock")[canonicalize_name(name)]

    assert numbers(locked) >= numbers(fixed), advisories


def test_the_image_installs_from_the_locks_with_their_hashes() -> None:
    dockerfile = Path(ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    installs = re.findall(r"pip install (.*?)(?:&&|\n)", dockerfile)

    assert [("--require-hashes" in one or "--no-index --no-deps" in one) for one in installs] == [True] * 3
    assert all(f"--requirement {lock}" in dockerfile for lock in LOCKS)

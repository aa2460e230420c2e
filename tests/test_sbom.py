"""The bill of materials: CycloneDX with each package of the lock file, its hashes, and the packages that need it."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.paths import ROOT
from tests.test_locks import pins, project


@pytest.fixture(scope="module")
def document() -> Any:
    command = [sys.executable, "-I", str(ROOT / "scripts" / "sbom.py")]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def test_it_has_every_locked_package_with_its_hashes(document: Any) -> None:
    found = {one["name"]: one["version"] for one in document["components"]}

    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert found == pins("requirements.lock")
    assert all(one["externalReferences"][0]["hashes"] for one in document["components"])


def test_it_says_what_needs_what(document: Any) -> None:
    references = {one["bom-ref"]: one["name"] for one in document["components"]}
    root = document["metadata"]["component"]["bom-ref"]
    needs = {one["ref"]: [references[name] for name in one["dependsOn"]] for one in document["dependencies"]}

    assert len(needs[root]) == len(project()["project"]["dependencies"])
    assert set(needs) == {root, *references}
    assert set().union(*needs.values()) == set(references.values())


def test_the_same_lock_gives_the_same_bill(document: Any) -> None:
    again = subprocess.run([sys.executable, str(ROOT / "scripts" / "sbom.py")], capture_output=True, check=True)

    assert json.loads(again.stdout) == document

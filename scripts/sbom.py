"""Writes the bill of materials of the server as CycloneDX 1.6, from requirements.lock and pyproject.toml.

    python scripts/sbom.py > aio-apiserver.cdx.json

It needs Python's standard library alone, so that the build of the image can run it. The same lock file gives the same
bytes. tests/test_sbom.py compares it with the lock file.
"""

import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
_PACKAGE = re.compile(r"^([a-z0-9-]+)==(\S+)(?: ; ([^\\\n]+?))? \\\n((?:    .*\n?)+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_VIA = re.compile(r"^    #(?: via)? +(\S+)", re.MULTILINE)


class LockedPackage(NamedTuple):
    """A package of the lock file. marker: where it is installed. wanted_by: the packages that need it."""

    name: str
    version: str
    marker: str
    hashes: Sequence[str]
    wanted_by: Sequence[str]

    @property
    def reference(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def packages(lock: str) -> Iterator[LockedPackage]:
    """The packages of a lock file."""
    for name, version, marker, rest in _PACKAGE.findall(lock):
        yield LockedPackage(
            name, version, marker, _HASH.findall(rest), [one for one in _VIA.findall(rest) if one != "via"]
        )


def document(project: Mapping[str, Any], locked: Sequence[LockedPackage]) -> dict[str, Any]:
    """The bill of materials."""
    own = {"name": project["name"], "version": project["version"], "licenses": [{"expression": project["license"]}]}
    reference = f"pkg:pypi/{project['name']}@{project['version']}"
    references = {project["name"]: reference, **{one.name: one.reference for one in locked}}
    needs = {wanting: sorted(one.reference for one in locked if wanting in one.wanted_by) for wanting in references}
    components = [_component(one) for one in locked]
    identity = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([reference, components, needs], sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{identity}",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": reference, "purl": reference, **own}},
        "components": components,
        "dependencies": [{"ref": references[name], "dependsOn": needs[name]} for name in references],
    }


def _component(package: LockedPackage) -> dict[str, Any]:
    page = f"https://pypi.org/project/{package.name}/{package.version}/"
    hashes = [{"alg": "SHA-256", "content": one} for one in package.hashes]
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": package.reference,
        "name": package.name,
        "version": package.version,
        "purl": package.reference,
        "externalReferences": [{"type": "distribution", "url": page, "hashes": hashes}],
    }
    if package.marker:
        component["properties"] = [{"name": "python:marker", "value": package.marker}]
    return component


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    locked = list(packages((ROOT / "requirements.lock").read_text()))
    sys.stdout.write(json.dumps(document(project, locked), indent=2) + "\n")


if __name__ == "__main__":
    main()

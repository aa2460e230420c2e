"""The product's modules as source and syntax tree, for tests about the code itself."""

import ast
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tests.paths import ROOT

FOLDERS = ("apiserver", "base", "controllers", "registry", "simulation", "storage", "testing")


class Source(NamedTuple):
    """A module. name: as `apiserver.wire.urls`; path: from the top of the project."""

    name: str
    path: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """Its first two names: `apiserver.wire`, `registry.base`."""
        return ".".join(self.name.split(".")[:2])

    @property
    def folder(self) -> str:
        """The package that it stands in, as `registry.groups.core.parts`."""
        return self.path.rpartition("/")[0].replace("/", ".")


@cache
def product() -> tuple[Source, ...]:
    """All modules of the packages."""
    return tuple(_read())


def _read() -> Iterator[Source]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            relative = path.relative_to(ROOT)
            name = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
            yield Source(name, str(relative), ast.parse(path.read_text(), str(relative)))

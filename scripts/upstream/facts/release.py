"""Release: one release of Kubernetes with all that the readers of facts need of it.

Must hold: a file is read once, and a Go package parsed once.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from aio_apiserver.registry.base.timeline import Version, text_of
from aio_apiserver.registry.machinery.schema.definitions import Definitions
from scripts.upstream import protos
from scripts.upstream.golang.packages import Package, Packages, folder_of
from scripts.upstream.problems import Unusable
from scripts.upstream.protos import ProtoPackage
from scripts.upstream.trees import Tree

_DEFINITIONS = "io.k8s."
_PROTO = "generated.proto"
_SOURCES = (
    "k8s.io/api/",
    "k8s.io/apiextensions-apiserver/pkg/apis/",
    "k8s.io/apimachinery/pkg/",
    "k8s.io/apiserver/pkg/apis/audit/",
    "k8s.io/kube-aggregator/pkg/apis/",
)
"""Where the types are that kube-apiserver reads and writes."""
_EXAMPLES = ("k8s.io/apimachinery/pkg/apis/testapigroup/",)
"""Types that no server has."""


class Release:
    """A release with the definitions of its minor."""

    def __init__(self, minor: Version, tree: Tree, definitions: Definitions) -> None:
        self.minor = minor
        self.tree = tree
        self.definitions = definitions
        self.packages = Packages(tree)

    @property
    def text(self) -> str:
        """Its minor: 1.36."""
        return text_of(self.minor)

    @cached_property
    def protos(self) -> Sequence[tuple[str, ProtoPackage]]:
        """The .proto file of each package of types, with the import path of the package."""
        paths = {path: _import_path(path) for path in self.tree.paths if path.endswith("/" + _PROTO)}
        if not paths:
            raise Unusable(f"the tree of {self.tree.release} has no {_PROTO}")
        return [
            (package, protos.parsed(path, self.tree.read(path)))
            for path, package in paths.items()
            if package.startswith(_SOURCES) and not package.startswith(_EXAMPLES)
        ]

    @cached_property
    def definition_names(self) -> Mapping[str, Sequence[str]]:
        """The definitions with properties, by the import path of the package of their types."""
        names: dict[str, list[str]] = {}
        for name in self.definitions:
            if "properties" in self.definitions[name]:
                names.setdefault(import_path_of(name), []).append(name)
        return names

    def package_of(self, definition: str) -> Package:
        """The package of the Go type behind a definition."""
        return self.packages.of(import_path_of(definition))


def import_path_of(definition: str) -> str:
    """`io.k8s.api.core.v1.Pod` is a type of `k8s.io/api/core/v1`."""
    return "k8s.io/" + definition.removeprefix(_DEFINITIONS).rpartition(".")[0].replace(".", "/")


def _import_path(path: str) -> str:
    """The import path of the package of a file."""
    folder = path.rpartition("/")[0]
    return folder.removeprefix(folder_of(""))

"""Packages: the Go packages of a release, by import path, with the values of their constants.

Must hold: a package is parsed once, when a table first needs it. Tests and generated code are not read.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from scripts.upstream.golang import builds, parser
from scripts.upstream.golang.syntax import (
    Binary,
    Call,
    Constant,
    Expression,
    File,
    Function,
    Literal,
    Name,
    Selector,
    TypeDeclaration,
    Unary,
    Variable,
)
from scripts.upstream.problems import NotUnderstood, Unusable
from scripts.upstream.trees import Tree

_STAGING = "staging/src/"
_MODULE = "k8s.io/kubernetes/"
_NO_CONVERSIONS = frozenset({"len", "append", "make", "new"})


class Package:
    """The files of one package."""

    def __init__(self, import_path: str, files: Sequence[File], packages: "Packages") -> None:
        self.import_path = import_path
        self.files = files
        self._packages = packages

    @property
    def name(self) -> str:
        """The name in its package clauses, which Go prints before its types."""
        return self.files[0].package

    @cached_property
    def types(self) -> Mapping[str, tuple[File, TypeDeclaration]]:
        return {one.name: (file, one) for file in self.files for one in file.types}

    @cached_property
    def functions(self) -> Mapping[str, tuple[File, Function]]:
        return {one.name: (file, one) for file in self.files for one in file.functions}

    @cached_property
    def variables(self) -> Mapping[str, tuple[File, Variable]]:
        return {one.name: (file, one) for file in self.files for one in file.variables}

    @cached_property
    def constants(self) -> Mapping[str, tuple[File, Constant]]:
        """The constants; a row that repeats the type and value above it has them."""
        found: dict[str, tuple[File, Constant]] = {}
        for file in self.files:
            above: Constant | None = None
            for row in file.constants:
                if row.value is None and above is not None:
                    row = Constant(row.name, above.type, above.value, row.iota, row.doc, row.line)
                found[row.name] = (file, row)
                above = row
        return found

    def imported(self, file: File, name: str) -> "Package":
        """The package that a file calls by a name. Raises Unusable."""
        return self._packages.of(file.imports[name])

    def value_of(self, file: File, expression: Expression, iota: int = 0) -> str | int | float | bool:
        """The value of a constant expression. Raises NotUnderstood."""
        match expression:
            case Literal(value=value):
                return value
            case Name(text="true" | "false"):
                return expression.text == "true"
            case Name(text="iota"):
                return iota
            case Name(text=name) if name in self.constants:
                return self.constant(name)
            case Selector(operand=Name(text=package), name=name) if package in file.imports:
                return self.imported(file, package).constant(name)
            case Call(function=Name() | Selector(), arguments=[argument]):
                return self.value_of(file, argument, iota)
            case Unary(operator="-", operand=operand):
                value = self.value_of(file, operand, iota)
                return -value if isinstance(value, int | float) else value
            case Binary(operator=operator, left=left, right=right):
                return _combined(operator, self.value_of(file, left, iota), self.value_of(file, right, iota))
        raise NotUnderstood(file.path, expression.line, "no constant expression that the reader knows")

    def constant(self, name: str) -> str | int | float | bool:
        """The value of a constant of this package. Raises NotUnderstood."""
        if name not in self.constants:
            raise NotUnderstood(self.files[0].path, 1, f"the package has no constant {name}")
        file, row = self.constants[name]
        if row.value is None:
            raise NotUnderstood(file.path, row.line, f"the constant {name} has no value")
        return self.value_of(file, row.value, row.iota)


class Packages:
    """The packages of one release."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._parsed: dict[str, Package] = {}

    @cached_property
    def _files(self) -> Mapping[str, Sequence[str]]:
        """The paths of the Go files of each folder."""
        folders: dict[str, list[str]] = {}
        for path in self._tree.paths:
            if path.endswith(".go") and not path.endswith("_test.go"):
                folders.setdefault(path.rpartition("/")[0], []).append(path)
        return folders

    def has(self, import_path: str) -> bool:
        return bool(self._paths(import_path))

    def of(self, import_path: str) -> Package:
        """A package by its import path. Raises Unusable."""
        package = self._parsed.get(import_path)
        if package is None:
            paths = self._paths(import_path)
            if not paths:
                raise Unusable(f"{self._tree.release} has no package {import_path}")
            sources = ((path, self._tree.read(path)) for path in paths)
            files = [parser.parsed(path, source) for path, source in sources if builds.is_built(path, source)]
            package = self._parsed[import_path] = Package(import_path, files, self)
        return package

    def _paths(self, import_path: str) -> Sequence[str]:
        folder = folder_of(import_path)
        return [path for path in self._files.get(folder, ()) if not _is_generated(path)]


def folder_of(import_path: str) -> str:
    """The folder of a package of Kubernetes in its tree."""
    if import_path.startswith(_MODULE):
        return import_path.removeprefix(_MODULE)
    return _STAGING + import_path


def _is_generated(path: str) -> bool:
    """Whether a file is generated code; the descriptions of fields are generated, too, and are read."""
    name = path.rpartition("/")[2]
    return name.startswith(("zz_generated", "generated.")) or name.endswith(".pb.go")


def _combined(operator: str, left: str | int | float, right: str | int | float) -> str | int | float:
    """The result of an operator between two constants."""
    if isinstance(left, str) or isinstance(right, str):
        return f"{left}{right}"
    if operator == "<<":
        return int(left) << int(right)
    return {"+": left + right, "-": left - right, "*": left * right}[operator]

"""kinds: the kinds that kube-apiserver's schemes register, from the functions addKnownTypes of the packages of types.

Must hold: a registered type whose name the reader cannot tell is an error.
"""

import re
from collections.abc import Iterator

from scripts.upstream.facts.release import Release
from scripts.upstream.golang import parser
from scripts.upstream.golang.packages import Package
from scripts.upstream.golang.syntax import Assignment, Call, Composite, Expression, File, Literal, Name, Selector, Unary
from scripts.upstream.problems import NotUnderstood

_VERSIONED = re.compile(
    r"(staging/src/(?:k8s\.io/api/\w+|k8s\.io/apiextensions-apiserver/pkg/apis/apiextensions"
    r"|k8s\.io/kube-aggregator/pkg/apis/apiregistration)/v\w+)/register\.go"
)
_INTERNAL = re.compile(r"(pkg/apis/\w+)/register\.go")
_REGISTERS = "addKnownTypes"
_CALLS = frozenset({"AddKnownTypes", "AddKnownTypeWithName"})
_COMMON = "k8s.io/apimachinery/"


def versions(release: Release) -> Iterator[tuple[str, str, str]]:
    """Group, version and kind of every registered kind. Raises NotUnderstood."""
    for path in release.tree.paths:
        if match := _VERSIONED.fullmatch(path):
            package = release.packages.of(match[1].removeprefix("staging/src/"))
            for _, kind in _registered(package):
                yield _group(package), match[1].rpartition("/")[2], kind


def shared(release: Release) -> Iterator[tuple[str, str, str]]:
    """Kinds of other groups that a group registers as its own: folder of the kind, the kind, and the group."""
    for path in release.tree.paths:
        if match := _INTERNAL.fullmatch(path):
            package = release.packages.of(f"k8s.io/kubernetes/{match[1]}")
            for owner, kind in _registered(package):
                if owner != package.import_path and not owner.startswith(_COMMON):
                    yield owner.rpartition("/")[2], kind, _group(package)


def _group(package: Package) -> str:
    return str(package.constant("GroupName"))


def _registered(package: Package) -> Iterator[tuple[str, str]]:
    """The import path and the name of each type that a package registers."""
    if _REGISTERS not in package.functions:
        return
    file, function = package.functions[_REGISTERS]
    for statement in parser.statements(file.path, function):
        match statement:
            case Assignment(targets=[], values=[Call(function=Selector(name=name), arguments=[_, *types])]):
                if name in _CALLS:
                    yield from (_type(package, file, one) for one in types if not _is_kind(one))


def _is_kind(argument: Expression) -> bool:
    """Whether an argument is the name under which AddKnownTypeWithName registers a type."""
    return isinstance(argument, Call | Literal)


def _type(package: Package, file: File, argument: Expression) -> tuple[str, str]:
    match argument:
        case Unary(operator="&", operand=Composite(type=Name(text=name))):
            return package.import_path, name
        case Unary(operator="&", operand=Composite(type=Selector(operand=Name(text=alias), name=name))):
            return file.imports[alias], name
    raise NotUnderstood(file.path, argument.line, "no type that is registered")

"""gates: the feature gates of kube-apiserver, from the maps of the packages that register them.

Must hold: a map of gates in one of the packages that the reader does not understand is an error, and so is a gate that
two packages register differently.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aio_apiserver.registry.base.timeline import version_of
from scripts.upstream.facts.release import Release
from scripts.upstream.golang import parser, syntax
from scripts.upstream.golang.packages import Package
from scripts.upstream.golang.syntax import (
    Call,
    Composite,
    Expression,
    File,
    Literal,
    MapType,
    Name,
    OpaqueStatement,
    Selector,
    SliceType,
)
from scripts.upstream.problems import NotUnderstood, Unusable

PACKAGES = (
    "k8s.io/kubernetes/pkg/features",
    "k8s.io/apiserver/pkg/features",
    "k8s.io/apiextensions-apiserver/pkg/features",
    "k8s.io/client-go/features",
    "k8s.io/component-base/logs/api/v1",
    "k8s.io/component-base/metrics/features",
    "k8s.io/component-base/zpages/features",
    "k8s.io/controller-manager/pkg/features",
)
_BUILDS_TABLE = "featureGates"
"""The function that returns the map of a package without a variable for it."""
_UNVERSIONED = "0.0"
_STAGES = frozenset({"PreAlpha", "Alpha", "Beta", "GA", "Deprecated"})

Spec = tuple[str, str, bool, bool]
"""Since which version, the stage, the default, and whether it is locked."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate: what it was in which version, and the gates without which it cannot be enabled."""

    specs: Sequence[Spec]
    needs: Sequence[str]


def of_release(release: Release) -> Mapping[str, Gate]:
    """The gates of a release by name. Raises NotUnderstood and Unusable."""
    specs: dict[str, Sequence[Spec]] = {}
    needs: dict[str, Sequence[str]] = {}
    for import_path in PACKAGES:
        package = release.packages.of(import_path)
        for file, table in _tables(package):
            for key, value in table.elements:
                name = _name(package, file, key)
                if _is_of_needs(table):
                    needs[name] = _needs(package, file, value)
                elif specs.setdefault(name, own := _specs(package, file, value)) != own:
                    raise Unusable(f"{release.tree.release}: the gate {name} has two tables")
    return {name: Gate(specs[name], needs.get(name, ())) for name in sorted(specs)}


def _tables(package: Package) -> Iterator[tuple[File, Composite]]:
    """The maps of gates of a package: from variables, and from the function that builds one."""
    for file, variable in package.variables.values():
        if isinstance(variable.value, Composite) and _is_table(variable.value):
            yield file, variable.value
    if _BUILDS_TABLE in package.functions:
        file, function = package.functions[_BUILDS_TABLE]
        for statement in parser.statements(file.path, function):
            match statement:
                case syntax.Return(values=[Composite() as table]) if _is_table(table):
                    yield file, table
                case OpaqueStatement(line=line):
                    raise NotUnderstood(file.path, line, "no map of gates is returned")


def _is_table(value: Composite) -> bool:
    match value.type:
        case MapType(key=Name(text="Feature") | Selector(name="Feature")):
            return True
    return False


def _is_of_needs(table: Composite) -> bool:
    return isinstance(table.type, MapType) and isinstance(table.type.value, SliceType)


def _name(package: Package, file: File, key: Expression | None) -> str:
    if key is None:
        raise NotUnderstood(file.path, 1, "a gate without a name")
    return str(package.value_of(file, key))


def _needs(package: Package, file: File, value: Expression) -> Sequence[str]:
    if not isinstance(value, Composite):
        raise NotUnderstood(file.path, value.line, "no list of gates")
    return tuple(_name(package, file, one) for _, one in value.elements)


def _specs(package: Package, file: File, value: Expression) -> Sequence[Spec]:
    if not isinstance(value, Composite) or not value.elements:
        raise NotUnderstood(file.path, value.line, "no specification of a gate")
    if value.elements[0][0] is not None:
        return (_spec(package, file, value),)
    return tuple(_spec(package, file, one) for _, one in value.elements)


def _spec(package: Package, file: File, value: Expression) -> Spec:
    if not isinstance(value, Composite):
        raise NotUnderstood(file.path, value.line, "no specification of a gate")
    version, stage, flags = _UNVERSIONED, "", {"Default": False, "LockToDefault": False}
    for key, member in value.elements:
        match key, member:
            case Name(text="Version"), Call(arguments=[Literal(value=text)]):
                version = max(version, str(text), key=version_of)
            case Name(text="MinCompatibilityVersion"), Call(arguments=[Literal(value=text)]):
                version = max(version, _after(str(text)), key=version_of)
            case Name(text="PreRelease"), Selector(name=name) | Name(text=name):
                stage = name
            case Name(text="Default" | "LockToDefault" as flag), Name(text="true" | "false" as word):
                flags[flag] = word == "true"
            case _:
                raise NotUnderstood(file.path, member.line, "no member of a gate's specification that the reader knows")
    if stage not in _STAGES and stage:
        raise NotUnderstood(file.path, value.line, f"no stage that the reader knows: {stage}")
    return version, stage or "GA", flags["Default"], flags["LockToDefault"]


def _after(version: str) -> str:
    """The minor after a minor: the first one that is compatible with no older one by default."""
    major, minor = version_of(version)
    return f"{major}.{minor + 1}"

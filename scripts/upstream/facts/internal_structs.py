"""internal_structs: the structs that kube-apiserver has inside, which its error messages print.

They stand in pkg/apis/<group>/types.go, and in two servers of their own. A field gets the name that it has in JSON,
which is that of the same Go field in the newest stable version of the group. Must hold: a field of the versioned
struct that the internal one does not have is named, too; so is a versioned struct without an internal one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scripts.upstream.facts import go_fields
from scripts.upstream.facts.release import Release
from scripts.upstream.golang.packages import Package, folder_of
from scripts.upstream.golang.syntax import (
    Expression,
    Field,
    File,
    MapType,
    Name,
    OpaqueType,
    Pointer,
    Selector,
    SliceType,
    StructType,
)
from scripts.upstream.problems import NotUnderstood

SERVERS = {
    "apiextensions": "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions",
    "apiregistration": "k8s.io/kube-aggregator/pkg/apis/apiregistration",
}
_INTERNAL = "k8s.io/kubernetes/pkg/apis/"
_VERSIONED = "k8s.io/api/"
_IN_JSON = ("k8s.io/apimachinery/pkg/apis/meta/", _VERSIONED)
"""Packages whose types are printed with their names in JSON."""
_MACHINERY = "k8s.io/apimachinery/"
_SPECIAL = {
    "k8s.io/apimachinery/pkg/api/resource.Quantity": "quantity",
    "k8s.io/apimachinery/pkg/apis/meta/v1.Duration": "duration",
    "k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime": "any",
    "k8s.io/apimachinery/pkg/apis/meta/v1.Time": "any",
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "number-or-text",
}
_BASIC = {
    "any": "any",
    "bool": "flag",
    "string": "text",
    **dict.fromkeys("byte float32 float64 int int16 int32 int64 int8 uint uint32 uint64 uint8".split(), "number"),
}
_NOT_SHOWN = frozenset({"TypeMeta"})
_METADATA = "ObjectMeta"
_LIST = "List"


@dataclass(frozen=True, slots=True)
class InternalStruct:
    """A struct. cells: its fields as the table has them. absent: the fields in JSON that the struct does not have."""

    cells: Sequence[str]
    absent: Sequence[str]


def groups(release: Release) -> Sequence[str]:
    """The groups of the API, by their folders."""
    own = re.compile(rf"{re.escape(_VERSIONED)}(\w+)/\w+")
    return sorted({match[1] for match in map(own.fullmatch, release.definition_names) if match} | SERVERS.keys())


def of_group(release: Release, group: str) -> Mapping[str, InternalStruct]:
    """The structs of the group of a folder, by name. Raises NotUnderstood."""
    reader = _Group(release, group)
    return {name: reader.struct(name) for name in reader.names() if not name.endswith(_LIST)}


class _Group:
    """One group, with the packages of its versions, the preferred one first."""

    def __init__(self, release: Release, group: str) -> None:
        versioned = SERVERS.get(group, _VERSIONED + group)
        internal = SERVERS.get(group, _INTERNAL + group)
        self._package = release.packages.of(internal) if release.packages.has(internal) else None
        self._versions = [release.packages.of(f"{versioned}/{name}") for name in _versions(release, versioned)]
        self._published = {
            name.rpartition(".")[2]
            for version in self._versions
            for name in release.definition_names.get(version.import_path, ())
        }

    def names(self) -> Iterator[str]:
        """The names of the structs: those inside that a version has, too, then those that only versions have."""
        inside = [] if self._package is None else [name for name in self._package.types if self._is_shown(name)]
        yield from inside
        yield from sorted(self._published.difference(inside))

    def _is_shown(self, name: str) -> bool:
        """Whether an internal type is a struct that a version of the group has, too."""
        assert self._package is not None
        _, declaration = self._package.types[name]
        return isinstance(declaration.type, StructType) and any(name in version.types for version in self._versions)

    def struct(self, name: str) -> InternalStruct:
        if self._package is None or name not in self._package.types:
            return InternalStruct([], self._in_json(name))
        names = self._names(name)
        cells = [
            self._cell(owner, file, field, names)
            for owner, file, field in go_fields.declared_fields(self._package, name)
            if field.name not in _NOT_SHOWN
        ]
        in_json = self._in_json(name)
        has = set(self._reached(name))
        return InternalStruct(cells, [one for one in in_json if one not in has])

    def _cell(self, package: Package, file: File, field: Field, names: Mapping[str, str]) -> str:
        if field.is_embedded:
            return "+metadata" if field.name == _METADATA else f"+{self._shape(package, file, field.type)}"
        name = names.get(field.name, json_name(field.name))
        own = field.name if name == json_name(field.name) else f"{field.name}={name}"
        return f"{own}:{self._shape(package, file, field.type)}"

    def _names(self, struct: str) -> Mapping[str, str]:
        """JSON's names of the fields by those of Go, where a version has the field; `.` is the object itself."""
        names: dict[str, str] = {}
        for version in reversed(self._versions):
            for _, _, field in go_fields.declared_fields(version, struct):
                names[field.name] = go_fields.json_name(field) or "."
        return names

    def _in_json(self, struct: str) -> list[str]:
        """The fields that the preferred version of a struct has in JSON."""
        version = next((one for one in self._versions if struct in one.types), None)
        return [] if version is None else list(_json_fields(version, struct))

    def _reached(self, struct: str) -> Iterator[str]:
        """The fields in JSON that an internal struct and those that it embeds have."""
        assert self._package is not None
        names = self._names(struct)
        for owner, file, field in go_fields.declared_fields(self._package, struct):
            name = names.get(field.name, json_name(field.name))
            if field.name == _METADATA:
                yield "metadata"
            elif field.name in _NOT_SHOWN:
                yield from ("kind", "apiVersion")
            elif field.is_embedded or name == ".":
                inner = go_fields.embedded(owner, file, field)
                if inner is not None:
                    yield from self._reached(inner[1])
            else:
                yield name

    def _shape(self, package: Package, file: File, type_: Expression) -> str:
        match type_:
            case Pointer(operand=operand):
                return "*" + self._shape(package, file, operand)
            case SliceType(element=Name(text="byte")) | OpaqueType():
                return "any"
            case SliceType(element=element):
                return "[]" + self._shape(package, file, element)
            case MapType(value=value):
                return "{}" + self._shape(package, file, value)
            case Name(text=name) if name in package.types:
                return self._declared(package, name)
            case Name(text=name) if name in _BASIC:
                return _BASIC[name]
            case Selector(operand=Name(text=alias), name=name):
                return self._declared(package.imported(file, alias), name)
        raise NotUnderstood(file.path, type_.line, f"no type that the reader knows: {type_}")

    def _declared(self, package: Package, name: str) -> str:
        special = _SPECIAL.get(f"{package.import_path}.{name}")
        if special is not None:
            return special
        file, declaration = package.types[name]
        if not isinstance(declaration.type, StructType):
            return self._shape(package, file, declaration.type)
        if package.import_path.startswith(_IN_JSON):
            return "meta"
        if package.import_path.startswith(_MACHINERY):
            return "any"
        return name if package is self._package else f"{package.import_path.rpartition('/')[2]}.{name}"


def json_name(name: str) -> str:
    """The name of a Go field in JSON, by the rule of upstream: leading capitals but the last become small."""
    match = re.match("[A-Z]+", name)
    capitals = match.end() if match else 0
    small = capitals if capitals in {1, len(name)} else capitals - 1
    return name[:small].lower() + name[small:]


def _json_fields(package: Package, struct: str) -> Iterator[str]:
    for owner, file, field in go_fields.declared_fields(package, struct):
        name = go_fields.json_name(field)
        inner = None if name else go_fields.embedded(owner, file, field)
        if name:
            yield name
        elif inner is not None:
            yield from _json_fields(*inner)


def _versions(release: Release, versioned: str) -> list[str]:
    """The versions of a group: stable before beta before alpha, and the newest of each first."""
    pattern = re.compile(re.escape(folder_of(versioned)) + r"/(v(\d+)(alpha|beta)?(\d*))/types\.go")
    found = filter(None, map(pattern.fullmatch, release.tree.paths))
    stages = {None: 0, "beta": 1, "alpha": 2}
    return [match[1] for match in sorted(found, key=lambda one: (stages[one[3]], -int(one[2]), -int(one[4] or 0)))]

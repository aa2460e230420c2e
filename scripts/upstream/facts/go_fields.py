"""go_fields: the fields of Go structs as JSON and protobuf know them: pointers, tags, and Go's names of their types.

Must hold: a struct that embeds a type of a package that is not in the tree is an error.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scripts.upstream.golang.packages import Package
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

_TAG = re.compile(r'(\w+):"([^"]*)"')
_SCALARS = frozenset("string bool int int32 int64 uint8 float64 byte".split())
_KUBERNETES = "k8s.io/"
_OMITS = frozenset({"omitempty", "omitzero"})


@dataclass(frozen=True, slots=True)
class GoField:
    """A field of a struct.

    name: that of JSON; empty for an embedded struct, whose fields JSON has instead. number: that of protobuf, or 0.
    type: Go's name of the type, without a pointer. has_own_type: it is or contains a declared type that is no struct,
    such as a named string. is_printed: JSON has the field even when it is empty.
    """

    go_name: str
    name: str
    number: int
    type: str
    has_own_type: bool
    is_pointer: bool
    is_printed: bool
    hides_zero: bool


def fields_of(package: Package, struct: str) -> list[GoField]:
    """The fields of a struct, in their order; none for a type that is no struct."""
    return [_field(owner, file, field) for owner, file, field in declared_fields(package, struct)]


def declared_fields(package: Package, struct: str) -> Iterator[tuple[Package, File, Field]]:
    """The declarations of a struct's fields, with the place where they stand."""
    if struct not in package.types:
        return
    file, declaration = package.types[struct]
    match declaration.type:
        case StructType(fields=fields):
            yield from ((package, file, field) for field in fields)
        case Name(text=name):
            yield from declared_fields(package, name)
        case Selector(operand=Name(text=alias), name=name):
            yield from declared_fields(package.imported(file, alias), name)


def json_name(field: Field) -> str:
    """The name of a field in JSON; empty for an embedded struct, whose fields JSON has instead."""
    name = _tags(field).get("json", "").partition(",")[0]
    return name or ("" if field.is_embedded else field.name)


def embedded(package: Package, file: File, field: Field) -> tuple[Package, str] | None:
    """The struct that a field embeds, with its package; None when it is of a package outside of Kubernetes."""
    match _pointed(field.type):
        case Name(text=name):
            return package, name
        case Selector(operand=Name(text=alias), name=name) if file.imports[alias].startswith(_KUBERNETES):
            return package.imported(file, alias), name
    return None


def _tags(field: Field) -> Mapping[str, str]:
    return dict(_TAG.findall(field.tag))


def _field(package: Package, file: File, field: Field) -> GoField:
    tags = _tags(field)
    options = tags.get("json", "").split(",")[1:]
    protobuf = tags.get("protobuf", "").split(",")
    return GoField(
        go_name=field.name,
        name=json_name(field),
        number=int(protobuf[1]) if len(protobuf) > 1 else 0,
        type=type_name(package, file, _pointed(field.type)),
        has_own_type=_has_own_type(package, file, field.type),
        is_pointer=isinstance(field.type, Pointer),
        is_printed=_OMITS.isdisjoint(options),
        hides_zero="omitzero" in options,
    )


def _pointed(type_: Expression) -> Expression:
    return type_.operand if isinstance(type_, Pointer) else type_


def type_name(package: Package, file: File, type_: Expression) -> str:
    """A type as Go's reflection prints it: `[]v1.FinalizerName`, `map[string]v1.ExtraValue`. Raises NotUnderstood."""
    match type_:
        case Pointer(operand=operand):
            return "*" + type_name(package, file, operand)
        case SliceType(element=element):
            return "[]" + type_name(package, file, element)
        case MapType(key=key, value=value):
            return f"map[{type_name(package, file, key)}]{type_name(package, file, value)}"
        case OpaqueType(word=word):
            return word
        case Name(text=name) if name in package.types:
            return _declared_name(package, name)
        case Name(text=name) if name in _SCALARS:
            return "uint8" if name == "byte" else name
        case Selector(operand=Name(text=alias), name=name):
            if not file.imports[alias].startswith(_KUBERNETES):
                return f"{alias}.{name}"
            return _declared_name(package.imported(file, alias), name)
    raise NotUnderstood(file.path, type_.line, f"no type that the reader knows: {type_}")


def _has_own_type(package: Package, file: File, type_: Expression) -> bool:
    match type_:
        case Pointer(operand=inner) | SliceType(element=inner):
            return _has_own_type(package, file, inner)
        case MapType(key=key, value=value):
            return _has_own_type(package, file, key) or _has_own_type(package, file, value)
        case Name(text=name) if name in package.types:
            owner, declaration = package.types[name]
            is_struct = isinstance(declaration.type, StructType)
            return not is_struct and not (declaration.is_alias and not _has_own_type(package, owner, declaration.type))
        case Selector(operand=Name(text=alias), name=name) if file.imports[alias].startswith(_KUBERNETES):
            return _has_own_type(package.imported(file, alias), file, Name(type_.line, name))
    return False


def _declared_name(package: Package, name: str) -> str:
    file, declaration = package.types[name]
    if declaration.is_alias:
        return type_name(package, file, declaration.type)
    return f"{package.name}.{name}"

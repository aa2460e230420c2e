"""defaults: the defaults of fields that do not depend on other fields, from the functions SetDefaults_Type.

A function of a type is read for two statements: `if obj.Field == nil { obj.Field = ... }` with a constant value, and
`SetDefaults_Other((*Other)(&obj.Embedded))`. All else in a function is a rule, which the strategy of the kind has.
A value made from other fields is a rule, too, and so is a struct with fields.
Must hold: a statement of the first form with another value is an error, or stands in `_NOT_CONSTANT`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from scripts.upstream.facts import go_fields, values
from scripts.upstream.facts.release import Release
from scripts.upstream.golang import parser, syntax
from scripts.upstream.golang.packages import Package
from scripts.upstream.golang.syntax import (
    Assignment,
    Binary,
    Call,
    Composite,
    Expression,
    File,
    If,
    Name,
    Pointer,
    Selector,
    Unary,
)

_PREFIX = "SetDefaults_"
_OBJECT = "obj"
_STAGED = "k8s.io/api/"
_NOT_CONSTANT = frozenset({("DeviceTaint", "TimeAdded")})
"""Fields whose default is the time."""


def of_type(release: Release, import_path: str, struct: str) -> Mapping[str, Any]:
    """The defaults of the fields of a struct and of those that it embeds, by JSON's names. Raises NotUnderstood."""
    types = release.packages.of(import_path)
    code = release.packages.of(_code_of(import_path)) if release.packages.has(_code_of(import_path)) else None
    found = {} if code is None else _own(code, types, struct)
    for owner, file, field in go_fields.declared_fields(types, struct):
        inner = None if go_fields.json_name(field) else go_fields.embedded(owner, file, field)
        if inner is not None:
            found = {**of_type(release, inner[0].import_path, inner[1]), **found}
    return found


def _code_of(import_path: str) -> str:
    """The package with the defaulting functions of a package of types."""
    if import_path.startswith(_STAGED):
        return f"k8s.io/kubernetes/pkg/apis/{import_path.removeprefix(_STAGED)}"
    return import_path


def _own(code: Package, types: Package, struct: str) -> Mapping[str, Any]:
    if _PREFIX + struct not in code.functions:
        return {}
    names = _json_names(types, struct)
    return {names[field]: value for field, value in _assigned(code, struct) if field in names}


def _json_names(package: Package, struct: str) -> Mapping[str, str]:
    """JSON's names of the fields of a struct and of those that it embeds, by Go's names."""
    names: dict[str, str] = {}
    for owner, file, field in go_fields.declared_fields(package, struct):
        name = go_fields.json_name(field)
        if name:
            names[field.name] = name
        elif (embedded := go_fields.embedded(owner, file, field)) is not None:
            names |= _json_names(*embedded)
    return names


def _assigned(package: Package, type_: str) -> Iterator[tuple[str, Any]]:
    """The fields of a type that get a constant value, by Go's names."""
    file, function = package.functions[_PREFIX + type_]
    names: dict[str, Expression] = {}
    for statement in parser.statements(file.path, function):
        match statement:
            case Assignment(targets=[Name(text=name)], operator=":=", values=[value]):
                names[name] = value
            case Assignment(targets=[], values=[Call(function=Name(text=other), arguments=[Call()])]):
                yield from _assigned(package, other.removeprefix(_PREFIX))
            case If(condition=Binary(operator="==", left=left), has_else=False):
                field = _tested(left)
                if field and (type_, field) not in _NOT_CONSTANT:
                    yield from _of_body(package, file, statement, field, names)


def _of_body(
    package: Package, file: File, statement: If, field: str, names: Mapping[str, Expression]
) -> Iterator[tuple[str, Any]]:
    """The value that the body gives the field, when it does nothing else."""
    local = dict(names)
    value: Expression | None = None
    for inner in statement.body:
        match inner:
            case Assignment(targets=[Name(text=name)], operator=":=", values=[constant]):
                local[name] = constant
            case Assignment(targets=[target], operator="=", values=[constant]) if _is_field(target, field):
                value = constant
            case _:
                return
    if value is None or _is_filled(value) or _is_map(value) or syntax.mentions(value, _OBJECT, local):
        return
    yield field, values.json_of(package, file, value, local)


def _tested(operand: Expression) -> str:
    """The field of the object that a condition compares: `obj.Field` or `len(obj.Field)`; empty for others."""
    match operand:
        case Call(function=Name(text="len"), arguments=[argument]):
            return _tested(argument)
        case Selector(operand=Name(text=name), name=field) if name == _OBJECT:
            return field
    return ""


def _is_field(target: Expression, field: str) -> bool:
    match target:
        case Pointer(operand=operand):
            return _is_field(operand, field)
        case Selector(operand=Name(text=name), name=selected):
            return name == _OBJECT and selected == field
    return False


def _is_filled(value: Expression) -> bool:
    """Whether a value is a struct with fields."""
    match value:
        case Unary(operator="&", operand=operand):
            return _is_filled(operand)
        case Composite(type=Name() | Selector(), elements=elements):
            return bool(elements)
    return False


def _is_map(value: Expression) -> bool:
    """Whether a value is an empty map, which is printed as if it was not there."""
    return isinstance(value, Call) and isinstance(value.function, Name) and value.function.text == "make"

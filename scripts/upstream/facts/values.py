"""values: the JSON value of a Go expression: constants, composite literals, and pointers to constants.

Must hold: an expression whose value depends on more than its package is an error.
"""

from collections.abc import Mapping
from typing import Any

from scripts.upstream.golang.packages import Package
from scripts.upstream.golang.syntax import (
    Call,
    Composite,
    Expression,
    File,
    Index,
    MapType,
    Name,
    Pointer,
    Selector,
    SliceType,
    Unary,
)
from scripts.upstream.problems import NotUnderstood

_SECONDS = {"Second": 1, "Minute": 60, "Hour": 3600}


def json_of(package: Package, file: File, expression: Expression | None, names: Mapping[str, Expression] = {}) -> Any:
    """The JSON value of an expression. names: local variables with their values. Raises NotUnderstood."""
    match expression:
        case Unary(operator="&", operand=operand):
            return json_of(package, file, operand, names)
        case Name(text=name) if name in names:
            return json_of(package, file, names[name], names)
        case Name(text=name) if name in package.variables:
            owner, variable = package.variables[name]
            return json_of(package, owner, variable.value, names)
        case Composite(type=SliceType(), elements=elements):
            return [json_of(package, file, value, names) for _, value in elements]
        case Composite(type=MapType(), elements=elements):
            return {
                str(package.value_of(file, key)): json_of(package, file, value, names)
                for key, value in elements
                if key is not None
            }
        case Composite(elements=[]):
            return {}
        case Selector(operand=Selector(operand=Name(text=alias), name=variable), name=member) if alias in file.imports:
            return _member(package.imported(file, alias), variable, member)
        case Call(function=Selector(operand=Selector(operand=Name(text="time"), name=unit), name="Seconds")):
            return _SECONDS[unit]
        case Call(function=Name(text="make")):
            return {}
        case Call(function=Name() | Selector() | Pointer() | Index(), arguments=[argument]):
            return json_of(package, file, argument, names)
        case None:
            raise NotUnderstood(file.path, 1, "a value is missing")
    return package.value_of(file, expression)


def _member(package: Package, name: str, member: str) -> Any:
    """The value of a field of a struct in a variable: SchemeGroupVersion.Version."""
    file, variable = package.variables[name]
    if isinstance(variable.value, Composite):
        for key, value in variable.value.elements:
            if isinstance(key, Name) and key.text == member:
                return json_of(package, file, value)
    raise NotUnderstood(file.path, variable.line, f"no struct with a field {member}")

"""Syntax: the declarations, types and expressions of a Go source file.

Types and expressions are one family, as in Go's own parser: `[]string` is a type, and the head of a composite literal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from scripts.upstream.golang.scanner import Token


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression or a type."""

    line: int


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """An identifier."""

    text: str


@dataclass(frozen=True, slots=True)
class Selector(Expression):
    """`operand.name`: a name of another package, or a field."""

    operand: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A text or a number."""

    value: str | int | float


@dataclass(frozen=True, slots=True)
class Pointer(Expression):
    """`*operand`: a pointer type, or what a pointer points to."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class SliceType(Expression):
    """`[]element`, or an array."""

    element: Expression


@dataclass(frozen=True, slots=True)
class MapType(Expression):
    """`map[key]value`."""

    key: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class Field(Expression):
    """A field of a struct. An embedded one has the name of its type."""

    name: str
    type: Expression
    tag: str
    doc: Sequence[str]
    is_embedded: bool


@dataclass(frozen=True, slots=True)
class StructType(Expression):
    """`struct{...}`."""

    fields: Sequence[Field]


@dataclass(frozen=True, slots=True)
class OpaqueType(Expression):
    """An interface, a function type or a channel, which no table needs."""

    word: str


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """`function(arguments...)`; a conversion looks the same."""

    function: Expression
    arguments: Sequence[Expression]


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """`operand[index]`, or a generic type with its argument."""

    operand: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Composite(Expression):
    """`Type{key: value, ...}`. The type of an inner one may be left out."""

    type: Expression | None
    elements: "Sequence[tuple[Expression | None, Expression]]"


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """`&operand`, `!operand`, `-operand`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """`left operator right`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class FunctionLiteral(Expression):
    """`func(...) {...}` as a value."""


@dataclass(frozen=True, slots=True)
class Assignment(Expression):
    """`targets operator values`; an expression as a statement has no targets and no operator."""

    targets: Sequence[Expression]
    operator: str
    values: Sequence[Expression]


@dataclass(frozen=True, slots=True)
class If(Expression):
    """`if condition {...}`."""

    condition: Expression
    body: "Sequence[Expression]"
    has_else: bool


@dataclass(frozen=True, slots=True)
class Return(Expression):
    """`return values`."""

    values: Sequence[Expression]


@dataclass(frozen=True, slots=True)
class OpaqueStatement(Expression):
    """A statement that no table needs, such as a loop."""

    word: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant. type and value are None where they are those of the row before. iota: the row in its group."""

    name: str
    type: Expression | None
    value: Expression | None
    iota: int
    doc: Sequence[str]
    line: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the package."""

    name: str
    value: Expression | None
    line: int


@dataclass(frozen=True, slots=True)
class TypeDeclaration:
    """A type. is_alias: `type A = B`."""

    name: str
    type: Expression
    is_alias: bool
    doc: Sequence[str]
    line: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function or a method. body: its tokens, which parser.statements reads."""

    name: str
    body: Sequence[Token]
    line: int


@dataclass(frozen=True, slots=True)
class File:
    """A Go source file. imports: the path of each imported package, by its name here."""

    path: str
    package: str
    imports: Mapping[str, str] = field(default_factory=dict)
    constants: Sequence[Constant] = ()
    variables: Sequence[Variable] = ()
    types: Sequence[TypeDeclaration] = ()
    functions: Sequence[Function] = ()


def mentions(expression: object, name: str, local: Mapping[str, Expression]) -> bool:
    """Whether an expression contains a name, directly or through local variables."""
    if isinstance(expression, Name):
        return expression.text == name or mentions(local.get(expression.text), name, {})
    if isinstance(expression, list | tuple):
        return any(mentions(one, name, local) for one in expression)
    if isinstance(expression, Expression):
        return any(mentions(getattr(expression, one.name), name, local) for one in fields(expression))
    return False

"""Expressions: parses Go's expressions and types from tokens.

Pure. Must hold: what it cannot read is an error with its line.
"""

from collections.abc import Callable, Sequence

from scripts.upstream.golang.scanner import Token
from scripts.upstream.golang.syntax import (
    Binary,
    Call,
    Composite,
    Expression,
    Field,
    FunctionLiteral,
    Index,
    Literal,
    MapType,
    Name,
    OpaqueType,
    Pointer,
    Selector,
    SliceType,
    StructType,
    Unary,
)
from scripts.upstream.problems import NotUnderstood

_PRECEDENCE = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 3),
    **dict.fromkeys(("+", "-", "|", "^"), 4),
    **dict.fromkeys(("*", "/", "%", "<<", ">>", "&", "&^"), 5),
}
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_UNARY = frozenset({"&", "!", "-", "+", "^", "<-"})


class ExpressionParser:
    """A position in the tokens of a file."""

    def __init__(self, path: str, tokens: Sequence[Token]) -> None:
        self.path = path
        self.tokens = tokens
        self.position = 0
        self._allows_composites = True

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        """The token here; the position moves on."""
        token = self.token
        self.position += 1
        return token

    def is_at(self, text: str) -> bool:
        token = self.token
        return token.text == text and token.kind in {"operator", "name"}

    def is_behind(self, text: str, count: int) -> bool:
        """Whether a token stands some tokens further on."""
        return self.tokens[self.position + count].text == text

    def skip(self, text: str) -> bool:
        """Move over a token, if it is here."""
        is_here = self.is_at(text)
        if is_here:
            self.position += 1
        return is_here

    def expect(self, text: str) -> Token:
        if not self.is_at(text):
            raise self.problem(f"{text!r} expected, not {self.token.text!r}")
        return self.take()

    def problem(self, text: str) -> NotUnderstood:
        return NotUnderstood(self.path, self.token.line, text)

    def name(self) -> str:
        if self.token.kind != "name":
            raise self.problem(f"a name expected, not {self.token.text!r}")
        return self.take().text

    def names(self) -> list[str]:
        names = [self.name()]
        while self.skip(","):
            names.append(self.name())
        return names

    def skip_brackets(self) -> None:
        """Move behind the bracket that closes the one here."""
        depth = 0
        while True:
            token = self.take()
            if token.kind == "end":
                raise NotUnderstood(self.path, token.line, "a bracket is not closed")
            if token.kind == "operator":
                depth += (token.text in _PAIRS) - (token.text in _PAIRS.values())
            if depth == 0:
                return

    def list_of_expressions(self) -> list[Expression]:
        items = [self.expression()]
        while self.skip(","):
            items.append(self.expression())
        return items

    def condition(self) -> Expression:
        """An expression in the head of a statement, where `{` begins the block."""
        before, self._allows_composites = self._allows_composites, False
        try:
            return self.expression()
        finally:
            self._allows_composites = before

    def expression(self, lowest: int = 1) -> Expression:
        left = self._unary()
        while (strength := _PRECEDENCE.get(self.token.text, 0)) >= lowest and self.token.kind == "operator":
            operator = self.take()
            left = Binary(operator.line, operator.text, left, self.expression(strength + 1))
        return left

    def type(self) -> Expression:
        line = self.token.line
        if self.skip("*"):
            return Pointer(line, self.type())
        if self.is_at("["):
            return self._slice_type()
        if self.skip("map"):
            self.expect("[")
            key = self.type()
            self.expect("]")
            return MapType(line, key, self.type())
        if self.skip("struct"):
            return StructType(line, self._fields())
        if self.is_at("interface") or self.is_at("func") or self.is_at("chan") or self.is_at("<-"):
            return self._opaque_type()
        return self._named_type()

    def _slice_type(self) -> Expression:
        line = self.token.line
        self.skip_brackets()
        return SliceType(line, self.type())

    def _opaque_type(self) -> Expression:
        word = self.take()
        if word.text == "<-":
            word = self.take()
        if word.text == "interface":
            self.skip_brackets()
        elif word.text == "func":
            self.skip_brackets()
            self._skip_results()
        else:
            self.skip("<-")
            self.type()
        return OpaqueType(word.line, word.text)

    def _skip_results(self) -> None:
        if self.is_at("("):
            self.skip_brackets()
        elif self.token.kind == "name" or self.token.text in {"*", "["}:
            self.type()

    def _named_type(self) -> Expression:
        named: Expression = Name(self.token.line, self.name())
        while self.skip("."):
            named = Selector(self.token.line, named, self.name())
        if self.is_at("[") and not self.is_behind("]", 1):
            self.take()
            named = Index(self.token.line, named, self.type())
            while self.skip(","):
                self.type()
            self.expect("]")
        return named

    def _fields(self) -> list[Field]:
        self.expect("{")
        fields: list[Field] = []
        while not self.skip("}"):
            fields += self._field_row()
            self.skip(";")
        return fields

    def _field_row(self) -> list[Field]:
        doc, line = self.token.doc, self.token.line
        is_embedded = self._is_embedded()
        names = [] if is_embedded else self.names()
        type_ = self.type()
        tag = self.take().text if self.token.kind == "text" else ""
        return [Field(line, name, type_, tag, doc, is_embedded) for name in names or [_last_name(type_)]]

    def _is_embedded(self) -> bool:
        """Whether the field here is a type alone: `*Type`, `pkg.Type`, `Type` or `Type[Argument]`."""
        behind = self.tokens[self.position + 1]
        if self.is_at("*") or behind.text in {".", ";", "}"} or behind.kind == "text":
            return True
        return behind.text == "[" and self.is_behind("]", 3) and self.is_behind(";", 4)

    def _unary(self) -> Expression:
        token = self.token
        if token.kind == "operator" and token.text in _UNARY:
            self.take()
            return Unary(token.line, token.text, self._unary())
        if self.skip("*"):
            return Pointer(token.line, self._unary())
        return self._primary()

    def _primary(self) -> Expression:
        operand = self._operand()
        while True:
            line = self.token.line
            if self.skip("."):
                operand = self._selected(operand)
            elif self.is_at("("):
                operand = Call(line, operand, self._arguments())
            elif self.is_at("["):
                operand = self._indexed(operand)
            elif self.is_at("{") and self._begins_composite(operand):
                operand = Composite(line, operand, self._elements())
            else:
                return operand

    def _selected(self, operand: Expression) -> Expression:
        line = self.token.line
        if self.is_at("("):
            self.skip_brackets()
            return Selector(line, operand, "(type)")
        return Selector(line, operand, self.name())

    def _begins_composite(self, operand: Expression) -> bool:
        if isinstance(operand, SliceType | MapType | StructType):
            return True
        return self._allows_composites and isinstance(operand, Name | Selector | Index)

    def _operand(self) -> Expression:
        token = self.token
        if token.kind == "text":
            self.take()
            return Literal(token.line, token.text)
        if token.kind == "number":
            return Literal(token.line, _number(self.take().text))
        if token.kind == "rune":
            return Literal(token.line, self.take().text)
        if self.skip("("):
            inner = self._inside(self.expression)
            self.expect(")")
            return inner
        if self.is_at("func"):
            return self._function()
        if token.text in {"[", "map", "struct", "interface", "chan"}:
            return self.type()
        return Name(token.line, self.name())

    def _function(self) -> Expression:
        line = self.token.line
        self._opaque_type()
        if self.is_at("{"):
            self.skip_brackets()
            return FunctionLiteral(line)
        return OpaqueType(line, "func")

    def _arguments(self) -> list[Expression]:
        self.expect("(")
        items: list[Expression] = []
        while not self.skip(")"):
            items.append(self._inside(self._argument))
            self.skip("...")
            self.skip(",")
        return items

    def _argument(self) -> Expression:
        return self.type() if self.token.text in {"chan", "interface"} else self.expression()

    def _indexed(self, operand: Expression) -> Expression:
        line = self.expect("[").line
        index: Expression = Name(line, "")
        while not self.skip("]"):
            if not (self.skip(":") or self.skip(",")):
                index = self._inside(self.expression)
        return Index(line, operand, index)

    def _elements(self) -> list[tuple[Expression | None, Expression]]:
        self.expect("{")
        elements: list[tuple[Expression | None, Expression]] = []
        while not self.skip("}"):
            value = self._inside(self._element)
            if self.skip(":"):
                elements.append((value, self._inside(self._element)))
            else:
                elements.append((None, value))
            if not self.skip(","):
                self.skip(";")
        return elements

    def _element(self) -> Expression:
        if self.is_at("{"):
            return Composite(self.token.line, None, self._elements())
        return self.expression()

    def _inside(self, read: Callable[[], Expression]) -> Expression:
        """Read within brackets, where composite literals are allowed again."""
        before, self._allows_composites = self._allows_composites, True
        try:
            return read()
        finally:
            self._allows_composites = before


def _last_name(type_: Expression) -> str:
    if isinstance(type_, Pointer):
        return _last_name(type_.operand)
    if isinstance(type_, Index):
        return _last_name(type_.operand)
    return type_.name if isinstance(type_, Selector) else getattr(type_, "text", "")


def _number(text: str) -> int | float:
    text = text.replace("_", "")
    if any(mark in text for mark in ".eE") and not text.lower().startswith("0x"):
        return float(text)
    is_octal = len(text) > 1 and text[0] == "0" and text[1].isdigit()
    return int(text, 8 if is_octal else 0)

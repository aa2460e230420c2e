"""Parser: the declarations of a Go source file, and the statements of a function where a table needs them.

Pure. Must hold: a declaration that it cannot read is an error with its line. The bodies of functions are kept as
tokens.
"""

from collections.abc import Callable, Sequence

from scripts.upstream.golang import scanner
from scripts.upstream.golang.expressions import ExpressionParser
from scripts.upstream.golang.scanner import Token
from scripts.upstream.golang.syntax import (
    Assignment,
    Constant,
    Expression,
    File,
    Function,
    If,
    Name,
    OpaqueStatement,
    Return,
    TypeDeclaration,
    Variable,
)

_ASSIGNMENTS = frozenset({"=", ":=", "+=", "|="})
_BLOCKS = frozenset({"for", "switch", "select"})
_SIMPLE = frozenset({"break", "continue", "defer", "go", "goto", "fallthrough", "const", "type", "{"})


def parsed(path: str, source: str) -> File:
    """The declarations of a file. Raises NotUnderstood."""
    return _FileParser(path, scanner.tokens(path, source)).file()


def statements(path: str, function: Function) -> list[Expression]:
    """The statements of a function. Raises NotUnderstood."""
    end = Token(scanner.END, "", function.line)
    return _StatementParser(path, [*function.body, end]).until_end()


def expression(path: str, text: str) -> Expression:
    """One expression. Raises NotUnderstood."""
    return ExpressionParser(path, scanner.tokens(path, text)).expression()


class _FileParser(ExpressionParser):
    def file(self) -> File:
        self.expect("package")
        package = self.name()
        self.skip(";")
        imports: dict[str, str] = {}
        constants: list[Constant] = []
        variables: list[Variable] = []
        types: list[TypeDeclaration] = []
        functions: list[Function] = []
        while self.token.kind != scanner.END:
            doc = self.token.doc
            if self.skip("import"):
                self._group(lambda _row: self._import(imports))
            elif self.skip("const"):
                self._group(lambda row: constants.extend(self._constants(row)))
            elif self.skip("var"):
                self._group(lambda _row: variables.extend(self._variables()))
            elif self.skip("type"):
                self._group(lambda _row, doc=doc: types.append(self._type(doc)))  # type: ignore[misc]
            else:
                self.expect("func")
                functions.append(self._declared_function())
            self.skip(";")
        return File(self.path, package, imports, constants, variables, types, functions)

    def _group(self, read: Callable[[int], None]) -> None:
        """One declaration, or a group of them in parentheses."""
        if not self.skip("("):
            read(0)
            return
        row = 0
        while not self.skip(")"):
            read(row)
            self.skip(";")
            row += 1

    def _import(self, imports: dict[str, str]) -> None:
        alias = self.take().text if self.token.kind == "name" or self.is_at(".") else ""
        target = self.take().text
        imports[alias or target.rpartition("/")[2]] = target

    def _constants(self, row: int) -> list[Constant]:
        doc, line = self.token.doc, self.token.line
        names = self.names()
        type_ = None if self.is_at("=") or self.is_at(";") or self.is_at(")") else self.type()
        values: list[Expression | None] = list(self.list_of_expressions()) if self.skip("=") else [None] * len(names)
        return [Constant(name, type_, value, row, doc, line) for name, value in zip(names, values, strict=True)]

    def _variables(self) -> list[Variable]:
        line = self.token.line
        names = self.names()
        if not self.is_at("="):
            self.type()
        values = self.list_of_expressions() if self.skip("=") else []
        if len(values) != len(names):
            return [Variable(name, None, line) for name in names]
        return [Variable(name, value, line) for name, value in zip(names, values, strict=True)]

    def _type(self, doc: Sequence[str]) -> TypeDeclaration:
        doc, line = self.token.doc or doc, self.token.line
        name = self.name()
        if self.is_at("[") and self.tokens[self.position + 1].kind == "name" and not self.is_behind("]", 2):
            self.skip_brackets()
        is_alias = self.skip("=")
        return TypeDeclaration(name, self.type(), is_alias, doc, line)

    def _declared_function(self) -> Function:
        line = self.token.line
        if self.is_at("("):
            self.skip_brackets()
        name = self.name()
        while not (self.is_at("{") or self.is_at(";")):
            if self.token.text in {"(", "["}:
                self.skip_brackets()
            elif self.token.text in {"interface", "struct"} and self.tokens[self.position + 1].text == "{":
                self.take()
                self.skip_brackets()
            else:
                self.take()
        if self.is_at(";"):
            return Function(name, (), line)
        start = self.position + 1
        self.skip_brackets()
        return Function(name, self.tokens[start : self.position - 1], line)


class _StatementParser(ExpressionParser):
    def until_end(self) -> list[Expression]:
        found: list[Expression] = []
        while self.token.kind != scanner.END and not self.is_at("}"):
            if not self.skip(";"):
                found.append(self._statement())
        return found

    def _statement(self) -> Expression:
        line, word = self.token.line, self.token.text
        if word in _BLOCKS:
            return self._opaque_block()
        if word == "if":
            return self._if()
        if word in _SIMPLE:
            self._skip_to_end_of_statement()
            return OpaqueStatement(line, word)
        if self.skip("return"):
            is_bare = self.is_at(";") or self.is_at("}") or self.token.kind == scanner.END
            return Return(line, [] if is_bare else self.list_of_expressions())
        if self.skip("var"):
            return self._variable(line)
        targets = self.list_of_expressions()
        if self.token.text in _ASSIGNMENTS:
            operator = self.take().text
            return Assignment(line, targets, operator, self.list_of_expressions())
        if self.token.text in {"++", "--"}:
            self.take()
            return OpaqueStatement(line, "++")
        return Assignment(line, (), "", targets)

    def _variable(self, line: int) -> Expression:
        """`var name = value`, as `name := value`."""
        targets: list[Expression] = [Name(line, name) for name in self.names()]
        if not self.is_at("="):
            self.type()
        values = self.list_of_expressions() if self.skip("=") else []
        return Assignment(line, targets, ":=", values)

    def _if(self) -> Expression:
        line = self.take().line
        start = self.position
        condition = self.condition()
        if not self.is_at("{"):
            self.position = start
            self._skip_to_block()
            self._skip_else()
            return OpaqueStatement(line, "if")
        body = self._block()
        return If(line, condition, body, self._skip_else())

    def _block(self) -> list[Expression]:
        self.expect("{")
        found = self.until_end()
        self.expect("}")
        return found

    def _skip_else(self) -> bool:
        has_else = False
        while self.skip("else"):
            has_else = True
            self._skip_to_block()
        return has_else

    def _opaque_block(self) -> Expression:
        line, word = self.token.line, self.token.text
        self._skip_to_block()
        return OpaqueStatement(line, word)

    def _skip_to_block(self) -> None:
        while not self.is_at("{"):
            if self.token.text in {"(", "["}:
                self.skip_brackets()
            elif self.is_at("interface") or self.is_at("struct"):
                self.take()
                self.skip_brackets()
            else:
                self.take()
        self.skip_brackets()

    def _skip_to_end_of_statement(self) -> None:
        while self.token.kind != scanner.END and not self.is_at(";") and not self.is_at("}"):
            if self.token.text in {"(", "[", "{"}:
                self.skip_brackets()
            else:
                self.take()

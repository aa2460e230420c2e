"""Parser: reads a shell script into its tree.

Pure. It knows lists, `&&`, `||`, pipes, redirections, groups, functions, if, while, until, for and case. Raises
ScriptError.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice

from msgspec import Struct

from aio_apiserver.base.kept_results import KeptResults
from aio_apiserver.simulation.containers import lexer
from aio_apiserver.simulation.containers.lexer import Lexeme, ScriptError
from aio_apiserver.simulation.containers.syntax import (
    AndOrList,
    Choice,
    Command,
    CommandGroup,
    For,
    If,
    Loop,
    Pipeline,
    Redirection,
    Script,
    ShellFunction,
    Simple,
    Text,
    Word,
)

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_ENDS = frozenset(("then", "do", "done", "fi", "else", "elif", "}", "esac"))
_SEPARATORS = (";", "\n", "&")
_UNKNOWN = ("function", "select")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST = 64 * 1024
_MOST_TOKENS = 5_000
"""The words and operators of a script. Reading so many takes some 30 ms."""
_STEPS_OF_A_TOKEN, _BYTES_OF_A_TOKEN = 3, 400
_CHARACTERS_A_STEP, _BYTES_OF_A_CHARACTER = 4, 40
_DEEPEST = 40
_TO_WORD = (">", ">>", "<", ">&", "&>")


class ReadScript(Struct, frozen=True):
    """The tree of a script, and what the script and the tree take: steps to read them, and bytes."""

    tree: Script
    steps: int
    size: int


_KEPT: KeptResults[str, ReadScript] = KeptResults(8 * 1024 * 1024)


def parse(script: str) -> ReadScript:
    """The tree of a script. Its reader pays before the first use."""
    result = _KEPT.get(script)
    if result is None:
        result = _read(script)
        _KEPT.put(script, result, result.size)
    return result


def _read(script: str) -> ReadScript:
    tokens = list(islice(lexer.tokens(script), _MOST_TOKENS)) if len(script) <= _LONGEST else []
    if len(script) > _LONGEST or len(tokens) == _MOST_TOKENS:
        raise ScriptError("the script is too long for the simulated shell")
    parser = _Parser(tokens)
    try:
        tree = parser.script()
    except RecursionError:
        raise ScriptError("the script is too deep for the simulated shell") from None
    if not parser.is_at_end:
        raise ScriptError(f'syntax error: unexpected "{parser.here.operator or parser.here.plain}"')
    steps = len(script) // _CHARACTERS_A_STEP + len(tokens) * _STEPS_OF_A_TOKEN
    return ReadScript(tree, steps, len(script) * _BYTES_OF_A_CHARACTER + len(tokens) * _BYTES_OF_A_TOKEN)


class _Parser:
    def __init__(self, tokens: Sequence[Lexeme]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._compound: dict[str, Callable[[], Command]] = {
            "if": self._if,
            "while": lambda: self._loop(ends_on_success=False),
            "until": lambda: self._loop(ends_on_success=True),
            "for": self._for,
            "case": self._case,
            "{": lambda: self._group("}", is_subshell=False),
        }

    @property
    def is_at_end(self) -> bool:
        return self._at >= len(self._tokens)

    @property
    def here(self) -> Lexeme:
        return self._tokens[self._at] if not self.is_at_end else Lexeme("end of file")

    def _next(self) -> Lexeme:
        token = self.here
        self._at += 1
        return token

    def _skip(self, *operators: str) -> None:
        while not self.is_at_end and self.here.operator in operators:
            self._at += 1

    def _expect(self, word: str) -> None:
        token = self._next()
        if word not in (token.plain, token.operator):
            raise ScriptError(f'syntax error: unexpected "{token.operator or token.plain}" (expecting "{word}")')

    def script(self) -> Script:
        """Chains up to a word that ends a compound command, or to the end."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ScriptError("the script is too deep for the simulated shell")
        chains: list[AndOrList] = []
        self._skip("\n", ";")
        while not self.is_at_end and self.here.plain not in _ENDS and self.here.operator not in (")", ";;"):
            chains.append(self._chain())
            self._skip("\n", ";")
        self._depth -= 1
        return chains

    def _chain(self) -> AndOrList:
        first = self._pipeline()
        rest: list[tuple[str, Pipeline]] = []
        while self.here.operator in ("&&", "||"):
            operator = self._next().operator
            self._skip("\n")
            rest.append((operator, self._pipeline()))
        end = self.here.operator
        if end in _SEPARATORS:
            self._next()
        return AndOrList(first, rest, end == "&")

    def _pipeline(self) -> Pipeline:
        is_negated = self.here.plain == "!"
        if is_negated:
            self._next()
        commands = [self._command()]
        while self.here.operator == "|":
            self._next()
            self._skip("\n")
            commands.append(self._command())
        return Pipeline(commands, is_negated)

    def _command(self) -> Command:
        word = self.here.plain
        if word in _UNKNOWN:
            raise ScriptError(f"the simulated shell does not know {word}")
        if word in self._compound:
            self._next()
            return self._compound[word]()
        if self.here.operator == "(":
            self._next()
            return self._group(")", is_subshell=True)
        return self._function(word) if self._begins_function(word) else self._simple()

    def _begins_function(self, word: str) -> bool:
        after = [one.operator for one in self._tokens[self._at + 1 : self._at + 3]]
        return after == ["(", ")"] and _NAME.fullmatch(word) is not None

    def _function(self, name: str) -> ShellFunction:
        self._at += 3
        self._skip("\n")
        return ShellFunction(name, self._command())

    def _case(self) -> Choice:
        word, branches = self._next().word, []
        self._skip("\n")
        self._expect("in")
        self._skip("\n")
        while self.here.plain != "esac":
            branches.append((self._patterns(), self.script()))
            if self.here.plain != "esac":
                self._expect(";;")
            self._skip("\n")
        self._expect("esac")
        return Choice(word, branches)

    def _patterns(self) -> list[Word]:
        """The patterns of a branch, up to its bracket."""
        self._skip("(")
        found = [self._next().word]
        while self.here.operator == "|":
            self._next()
            found.append(self._next().word)
        self._expect(")")
        return found

    def _if(self) -> If:
        condition = self.script()
        self._expect("then")
        body = self.script()
        if self.here.plain == "elif":
            self._next()
            chain = AndOrList(Pipeline([self._if()], is_negated=False), (), is_background=False)
            return If(condition, body, [chain])
        otherwise: Script = ()
        if self.here.plain == "else":
            self._next()
            otherwise = self.script()
        self._expect("fi")
        return If(condition, body, otherwise)

    def _loop(self, *, ends_on_success: bool) -> Loop:
        condition = self.script()
        return Loop(condition, self._body(), ends_on_success)

    def _body(self) -> Script:
        self._expect("do")
        body = self.script()
        self._expect("done")
        return body

    def _for(self) -> For:
        name, words = self._next().plain, []
        self._expect("in")
        while not self.here.operator:
            words.append(self._next().word)
        self._skip("\n", ";")
        return For(name, words, self._body())

    def _group(self, end: str, *, is_subshell: bool) -> CommandGroup:
        body = self.script()
        self._expect(end)
        return CommandGroup(body, is_subshell, self._redirections())

    def _redirections(self) -> list[Redirection]:
        found = []
        while self.here.operator.lstrip("0123456789") in _TO_WORD:
            found.append(self._redirection())
        return found

    def _redirection(self) -> Redirection:
        operator = self._next().operator
        kind = operator.lstrip("0123456789")
        usual = 0 if kind == "<" else 1
        number = operator[: len(operator) - len(kind)]
        return Redirection(int(number) if number else usual, kind, self._next().word)

    def _simple(self) -> Simple:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while not self.is_at_end:
            token = self.here
            if token.operator.lstrip("0123456789") in _TO_WORD:
                redirections.append(self._redirection())
            elif token.operator:
                break
            elif not words and (assigned := _assignment(token.word)):
                assignments.append(assigned)
                self._next()
            else:
                words.append(self._next().word)
        if not words and not assignments and not redirections:
            raise ScriptError(f'syntax error: unexpected "{self.here.operator}"')
        return Simple(assignments, words, redirections)


def _assignment(word: Word) -> tuple[str, Word] | None:
    first = word[0] if word else None
    if not isinstance(first, Text) or first.is_quoted:
        return None
    found = _ASSIGNMENT.fullmatch(first.text)
    return (found[1], (Text(found[2], is_quoted=True), *word[1:])) if found else None

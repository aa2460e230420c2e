"""Syntax: the tree of a shell script.

Pure values. A word is a sequence of parts, which expansion joins and splits.
"""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct


class Text(Struct, frozen=True):
    """Literal text."""

    text: str
    is_quoted: bool = False


class Variable(Struct, frozen=True):
    """`$name`, or `${name:-default}` with an operator."""

    name: str
    operator: str = ""
    default: str = ""
    is_quoted: bool = False


class Substitution(Struct, frozen=True):
    """`$(script)`."""

    script: str
    is_quoted: bool = False


class Arithmetic(Struct, frozen=True):
    """`$((expression))`."""

    expression: str


Part: TypeAlias = Text | Variable | Substitution | Arithmetic
Word: TypeAlias = tuple[Part, ...]


class Redirection(Struct, frozen=True):
    """`2> word`: the descriptor, the operator and the target."""

    descriptor: int
    operator: str
    target: Word


class Simple(Struct, frozen=True):
    """Assignments, a command with arguments, and redirections."""

    assignments: Sequence[tuple[str, Word]]
    words: Sequence[Word]
    redirections: Sequence[Redirection]


class Pipeline(Struct, frozen=True):
    """Commands that read each other's output."""

    commands: Sequence["Command"]
    is_negated: bool


class AndOrList(Struct, frozen=True):
    """Pipelines with `&&` or `||` before each but the first. `is_background`: it ends with `&`."""

    first: Pipeline
    rest: Sequence[tuple[str, Pipeline]]
    is_background: bool


Script: TypeAlias = Sequence[AndOrList]


class If(Struct, frozen=True):
    """`if`, with an `elif` as another If in `otherwise`."""

    condition: Script
    body: Script
    otherwise: Script


class Loop(Struct, frozen=True):
    """`while` or `until`."""

    condition: Script
    body: Script
    ends_on_success: bool


class For(Struct, frozen=True):
    """`for name in words`."""

    name: str
    words: Sequence[Word]
    body: Script


class CommandGroup(Struct, frozen=True):
    """`{ ... }`, or `( ... )` with variables of its own."""

    body: Script
    is_subshell: bool
    redirections: Sequence[Redirection]


class Choice(Struct, frozen=True):
    """`case word in`: the patterns of each branch, and its commands."""

    word: Word
    branches: Sequence[tuple[Sequence[Word], Script]]


class ShellFunction(Struct, frozen=True):
    """`name() command`."""

    name: str
    body: "Command"


Command: TypeAlias = Simple | If | Loop | For | CommandGroup | Choice | ShellFunction

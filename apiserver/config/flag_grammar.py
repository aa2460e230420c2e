"""Flag grammar: parses a command line as kube-apiserver does. It does not know what a flag means: settings.py does.

    --name value   --name=value   --bool   --bool=false   --list a,b --list c   --map k=v,k2=v2   -v=4   -v 4   -v4

Pure. Must hold: dashes and underscores in a name are equal. Flags of kube-apiserver without an effect here are read and
returned in `ignored`. Texts are of their flag's type. Error messages are those of Go's flag package.
"""

import csv
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from aio_apiserver.apiserver.config.flags import flag_types
from aio_apiserver.apiserver.config.flags.flag_types import FlagType
from aio_apiserver.apiserver.config.suggestions import did_you_mean
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.golang.text import quoted


class Flag(Struct, frozen=True):
    """One flag. `default` is the text for --help; empty when there is none."""

    name: str
    kind: FlagType
    group: str
    help: str
    default: str = ""
    shorthand: str = ""


Value = str | tuple[str, ...] | dict[str, str]


class Parsed(Struct, frozen=True):
    """A parsed command line: values by flag name, ignored flags, and whether help or the version was requested.

    words: the arguments that belong to no flag, where they are allowed.
    """

    values: dict[str, Value] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    wants_help: bool = False
    version: str = ""


class UsageError(ValueError):
    """A command line with an error."""


HELP = Flag("help", FlagType.BOOL, "Global", "help for apiserver", shorthand="h")
VERSION = Flag("version", FlagType.BOOL, "Global", "--version, --version=raw prints version information and quits")


def parse(
    arguments: Sequence[str], flags: Sequence[Flag], unused: Mapping[str, FlagType], *, takes_words: bool = False
) -> Parsed:
    """Parse a command line. `unused`: known flags without an effect. takes_words: for a command that has arguments.

    Raises UsageError.
    """
    reader = _Reader(arguments, flags, unused)
    while reader.has_more:
        reader.read_next()
    parsed = reader.parsed()
    if any(parsed.words) and not takes_words:
        raise UsageError(f'"apiserver" does not take any arguments, got {quoted(parsed.words)}')
    return parsed


class _Reader:
    """Reads the arguments in order."""

    def __init__(self, arguments: Sequence[str], flags: Sequence[Flag], unused: Mapping[str, FlagType]) -> None:
        known = (*flags, HELP, VERSION)
        self._flags = {flag.name: flag for flag in known}
        self._shorthands = {flag.shorthand: flag for flag in known if flag.shorthand}
        self._unused = unused
        self._left = list(reversed(arguments))
        self._texts: dict[str, list[str]] = {}
        self._ignored: dict[str, None] = {}
        self._words: list[str] = []

    @property
    def has_more(self) -> bool:
        return bool(self._left)

    def read_next(self) -> None:
        argument = self._left.pop()
        if argument.startswith("--") and argument != "--":
            self._read_long(argument)
        elif argument.startswith("-") and argument not in ("-", "--"):
            self._read_short(argument)
        elif argument == "--":
            self._words += reversed(self._left)
            self._left.clear()
        else:
            self._words.append(argument)

    def parsed(self) -> Parsed:
        wants_help = self._texts.pop(HELP.name, ["false"])[-1] != "false"
        version = self._texts.pop(VERSION.name, ["false"])[-1]
        values = {name: _value(self._flags[name], texts) for name, texts in self._texts.items()}
        return Parsed(values, list(self._ignored), self._words, wants_help, "" if version == "false" else version)

    def _read_long(self, argument: str) -> None:
        given, has_value, text = argument[2:].partition("=")
        if not given or given.startswith("-"):
            raise UsageError(f"bad flag syntax: {argument}")
        name = given.replace("_", "-")
        flag = self._flags.get(name)
        kind = flag.kind if flag else self._unused.get(name)
        if kind is None:
            known = (*self._flags, *self._unused)
            raise UsageError(f"unknown flag: --{given}{did_you_mean(name, known, '--')}")
        if not has_value:
            text = "true" if kind is FlagType.BOOL else self._argument_of(f"--{given}")
        self._take(name, text)

    def _read_short(self, argument: str) -> None:
        letter, rest = argument[1], argument[2:]
        flag = self._shorthands.get(letter)
        if flag is None:
            raise UsageError(f"unknown shorthand flag: {letter!r} in {argument}")
        if flag.kind is FlagType.BOOL and not rest.startswith("="):
            self._take(flag.name, "true")
            if rest:
                self._left.append(f"-{rest}")
        elif rest:
            self._take(flag.name, rest.removeprefix("="))
        else:
            self._take(flag.name, self._argument_of(f"{letter!r} in {argument}"))

    def _argument_of(self, flag: str) -> str:
        if not self._left:
            raise UsageError(f"flag needs an argument: {flag}")
        return self._left.pop()

    def _take(self, name: str, text: str) -> None:
        flag = self._flags.get(name) or Flag(name, self._unused[name], "", "")
        if flag is not VERSION:
            check(flag, text)
        if name in self._flags:
            self._texts.setdefault(name, []).append(text)
        else:
            self._ignored[name] = None


def _value(flag: Flag, texts: Sequence[str]) -> Value:
    """The last text, or all texts of a flag with several values."""
    if flag.kind is FlagType.LIST:
        return tuple(item for text in texts for item in _split(flag, text))
    if flag.kind is FlagType.MAP:
        return dict(_pair(flag, item) for text in texts for item in _split(flag, text))
    return texts[-1]


def _split(flag: Flag, text: str) -> list[str]:
    """The items between commas. An item in double quotes may contain commas."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error as exc:
        raise invalid(flag, text, str(exc)) from exc


def _pair(flag: Flag, item: str) -> tuple[str, str]:
    name, found, value = item.partition("=")
    if not found:
        raise invalid(flag, item, f"{item} must be formatted as key=value")
    return name.strip(), value.strip()


def check(flag: Flag, text: str) -> None:
    """Raise UsageError for a text that is no value of the flag's type."""
    try:
        flag_types.parse(flag.kind, text)
    except ValueError as exc:
        raise invalid(flag, text, str(exc)) from exc


def invalid(flag: Flag, text: str, why: str) -> UsageError:
    """The error for an invalid value."""
    shown = f"-{flag.shorthand}, --{flag.name}" if flag.shorthand else f"--{flag.name}"
    return UsageError(f"invalid argument {quote(text)} for {quote(shown)} flag: {why}")

"""command_lines: the command line of a subcommand: words, then flags of its own and flags of serving.

A store is named as for a server: --data-dir, or --etcd-servers with its certificates; --etcd-prefix;
--encryption-provider-config. Must hold: a failure has the exit code 1 and a message on stderr that names its cause.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.apiserver.config import command_line, flag_grammar, storage_config
from aio_apiserver.apiserver.config.flag_grammar import Flag, FlagType, UsageError, Value
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.config.unused_flags import UNUSED
from aio_apiserver.apiserver.process import loops
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.factory.factory import StorageConfig

FAILED = 1
_OWN = "Command"


class CommandLine(Struct, frozen=True):
    """A parsed command line. `own`: the values of the subcommand's own flags."""

    words: Sequence[str]
    settings: Settings
    own: Mapping[str, Value]

    def text(self, name: str, default: str = "") -> str:
        value = self.own.get(name, default)
        assert isinstance(value, str), "a flag of this type has one text"
        return value

    def texts(self, name: str) -> Sequence[str]:
        value = self.own.get(name, ())
        return (value,) if isinstance(value, str) else tuple(value)

    def is_set(self, name: str) -> bool:
        return self.text(name, "false") != "false"

    @property
    def store(self) -> StorageConfig:
        """The configuration of the store, without the upkeep of a server."""
        return replace(storage_config.config_of(self.settings), compaction_interval=0.0)


def text_flag(name: str, help_text: str, default: str = "") -> Flag:
    return Flag(name, FlagType.STRING, _OWN, help_text, default)


def list_flag(name: str, help_text: str) -> Flag:
    return Flag(name, FlagType.LIST, _OWN, help_text)


def switch(name: str, help_text: str) -> Flag:
    return Flag(name, FlagType.BOOL, _OWN, help_text)


def parse(arguments: Sequence[str], own: Sequence[Flag], *, shorthands: Mapping[str, str] | None = None) -> CommandLine:
    """The words before the first flag, and the flags. `shorthands`: -o for --output. Raises UsageError."""
    count = next((at for at, argument in enumerate(arguments) if argument.startswith("-")), len(arguments))
    short = shorthands or {}
    flags = [*command_line.flags(), *own]
    named = {flag.name for flag in own}
    parsed = flag_grammar.parse([_long(one, short) for one in arguments[count:]], flags, UNUSED)
    values = {name: parsed.values.pop(name) for name in list(parsed.values) if name in named}
    return CommandLine(arguments[:count], command_line.settings_of(parsed), values)


def wants_help(arguments: Sequence[str], usage: str, own: Sequence[Flag] = ()) -> bool:
    """Whether help is wanted; it is printed then."""
    if not {"-h", "--help"} & set(arguments):
        return False
    width = max((len(flag.name) for flag in own), default=0)
    lines = [f"  --{flag.name.ljust(width)}  {flag.help}\n" for flag in own]
    sys.stdout.write(usage + ("\nFlags, beside those of the server:\n" + "".join(lines) if lines else ""))
    return True


def run(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a command on an event loop. Returns its exit code, 1 for a failure."""
    try:
        with asyncio.Runner(loop_factory=loops.factory()) as runner:
            return runner.run(work())
    except (StorageError, OSError, ValueError) as exc:
        if isinstance(exc, UsageError):
            raise
        return failed(reason(exc))


def failed(message: str) -> int:
    """Print an error. Returns the exit code of a failure."""
    sys.stderr.write(f"Error: {message}\n")
    return FAILED


def reason(failure: Exception) -> str:
    """A failure in words; that of a file names the file."""
    if isinstance(failure, OSError) and failure.errno is not None and failure.filename is not None:
        return f"{failure.filename}: {os.strerror(failure.errno)}"
    return str(failure)


def _long(argument: str, shorthands: Mapping[str, str]) -> str:
    """An argument with its flag's long name: -o=json and -ojson are --output=json."""
    name = shorthands.get(argument[1:2]) if argument[:1] == "-" and argument[:2] != "--" else None
    if name is None:
        return argument
    value = argument[2:].removeprefix("=")
    return f"--{name}={value}" if value else f"--{name}"

"""command_lines: the command line of a subcommand: words, flags of its own and flags of serving, in any order.

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

from aio_apiserver.apiserver.config import command_line, flag_grammar, manuals, storage_config
from aio_apiserver.apiserver.config.flag_grammar import Flag, UsageError, Value
from aio_apiserver.apiserver.config.flags.flag_types import FlagType
from aio_apiserver.apiserver.config.flags.unused_flags import UNUSED
from aio_apiserver.apiserver.config.manuals import CommandManual
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.process import loops, start_errors
from aio_apiserver.registry.base.golang.text import quoted
from aio_apiserver.storage.errors import DataDirLocked, StorageError
from aio_apiserver.storage.factory.factory import StorageConfig

STORE_FLAGS = ("data-dir", "etcd-servers")
"""The flags of serving that name a store. A server uses both, and a command one of them."""
_OWN = "Command"


class CommandLine(Struct, frozen=True):
    """A parsed command line. `own`: the values of the subcommand's own flags, with the defaults of their table."""

    words: Sequence[str]
    settings: Settings
    own: Mapping[str, Value]

    def text(self, name: str) -> str:
        value = self.own.get(name, "")
        assert isinstance(value, str), "a flag of this type has one text"
        return value

    def texts(self, name: str) -> Sequence[str]:
        value = self.own.get(name, ())
        return (value,) if isinstance(value, str) else tuple(value)

    def is_set(self, name: str) -> bool:
        return self.text(name) not in ("", "false")

    @property
    def store(self) -> StorageConfig:
        """The configuration of the store, without the upkeep of a server."""
        return replace(storage_config.config_of(self.settings), compaction_interval=0.0, size_interval=0.0)


def text_flag(name: str, help_text: str, default: str = "", *, short: str = "") -> Flag:
    return Flag(name, FlagType.STRING, _OWN, help_text, default, short)


def list_flag(name: str, help_text: str, *, short: str = "") -> Flag:
    return Flag(name, FlagType.LIST, _OWN, help_text, "", short)


def switch(name: str, help_text: str) -> Flag:
    return Flag(name, FlagType.BOOL, _OWN, help_text)


def parse(arguments: Sequence[str], own: Sequence[Flag]) -> CommandLine:
    """The words and the flags, in any order. Raises UsageError."""
    named = {flag.name for flag in own}
    parsed = flag_grammar.parse(arguments, [*command_line.flags(), *own], UNUSED, takes_words=True)
    values = {name: parsed.values.pop(name) for name in list(parsed.values) if name in named}
    defaults = {flag.name: flag.default for flag in own if flag.default}
    return CommandLine(parsed.words, command_line.settings_of(parsed), {**defaults, **values})


def parse_flags(command: str, arguments: Sequence[str], own: Sequence[Flag]) -> CommandLine:
    """The flags of a command that takes no words. Raises UsageError."""
    line = parse(arguments, own)
    if line.words:
        raise UsageError(f"{command} takes flags alone, got {quoted(line.words)}")
    return line


def check_one_source(command: str, line: CommandLine, *names: str) -> None:
    """Raises UsageError when several of these flags are given, of which each names what the command works on."""
    given = [f"--{name}" for name in names if _is_given(line, name)]
    if len(given) > 1:
        raise UsageError(f"{command}: {' and '.join(given)} cannot be used together: name one source")


def _is_given(line: CommandLine, name: str) -> bool:
    setting = name.replace("-", "_")
    return name in line.own if name not in STORE_FLAGS else setting in line.settings.model_fields_set


def wants_help(arguments: Sequence[str], manual: CommandManual) -> bool:
    """Whether help is wanted; it is printed then."""
    if not {"-h", "--help"} & set(arguments):
        return False
    sys.stdout.write(manuals.help_text(manual))
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
    return manuals.FAILURE


def reason(failure: Exception) -> str:
    """A failure in words, with a remedy if there is one; that of a file names the file."""
    if isinstance(failure, DataDirLocked):
        return f"{failure}: stop it, or name another --data-dir"
    if isinstance(failure, OSError) and failure.errno is not None and failure.filename is not None:
        remedy = start_errors.REMEDIES.get(failure.errno)
        return f"{failure.filename}: {os.strerror(failure.errno)}" + (f" ({remedy})" if remedy else "")
    return str(failure)

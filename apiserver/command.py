"""Command: what one command line does: print help or the version, check the flags, or run the server."""

import logging
import shutil
import sys
from collections.abc import Sequence

from aio_apiserver.apiserver import import_tuning
from aio_apiserver.apiserver.config import command_line, flag_grammar, logs, usage
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.unused_flags import UNUSED
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS

logger = logging.getLogger(__name__)


def run(arguments: Sequence[str]) -> int:
    """Run the command of these arguments. Returns the exit code."""
    try:
        if arguments and arguments[0] in SUBCOMMANDS:
            return SUBCOMMANDS[arguments[0]].run(arguments[1:])
        parsed = flag_grammar.parse(arguments, command_line.flags(), UNUSED)
        if parsed.wants_help:
            sys.stdout.write(usage.help_text(_columns()))
            return 0
        chosen = command_line.settings_of(parsed)
        if parsed.version:
            sys.stdout.write(f"Kubernetes {chosen.minor.git_version}\n")
            return 0
    except UsageError as exc:
        sys.stderr.write(f"Error: {exc}\nSee 'apiserver --help' for usage.\n")
        return 2
    logs.configure(chosen.logging_format, chosen.v)
    for name in parsed.ignored:
        logger.warning("flag --%s is ignored: it has no effect on this server", name)
    with import_tuning.without_system_authorities():
        from aio_apiserver.apiserver import program  # loads HTTP and storage, which --help does without

    return program.run(chosen)


def _columns() -> int:
    return shutil.get_terminal_size((0, 0)).columns if sys.stdout.isatty() else 0

"""The command line: apiserver, kube-apiserver and python -m apiserver are this.

Exit codes: 0 when it did what was asked, 1 when it failed, 2 when the command line made no sense.
"""

import logging
import shutil
import sys
from collections.abc import Sequence

from apiserver import command_line, flags, logs, usage
from apiserver.flags import UsageError
from apiserver.unused_flags import UNUSED
from apiserver.version import KUBERNETES_VERSION

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for, or else the process' own. Returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        parsed = flags.parse(arguments, command_line.flags(), UNUSED)
        if parsed.wants_help:
            sys.stdout.write(usage.help_text(_columns()))
            return 0
        if parsed.version:
            sys.stdout.write(f"Kubernetes {KUBERNETES_VERSION}\n")
            return 0
        chosen = command_line.settings_of(parsed)
    except UsageError as exc:
        sys.stderr.write(f"Error: {exc}\nSee 'apiserver --help' for usage.\n")
        return 2
    logs.configure(chosen.logging_format, chosen.v)
    for name in parsed.ignored:
        logger.warning("flag --%s is ignored: it has no effect on this server", name)
    from apiserver import program  # loads HTTP and storage, which --help does without

    return program.run(chosen)


def _columns() -> int:
    return shutil.get_terminal_size((0, 0)).columns if sys.stdout.isatty() else 0

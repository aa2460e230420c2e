"""The command line: apiserver, kube-apiserver and python -m apiserver are this.

Exit codes: 0 when it did what was asked, 1 when it failed, 2 when the command line made no sense. Nothing may be
imported here but what is small: a start loads with the garbage collector off, since nearly all that it makes stays.
"""

import gc
import sys
from collections.abc import Sequence

from apiserver import errands


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for, or else the process' own. Returns the exit code."""
    gc.disable()  # the program turns it on again when it has started
    errands.leave_out_plugins()
    try:
        from apiserver import command

        return command.run(sys.argv[1:] if arguments is None else arguments)
    finally:
        gc.enable()

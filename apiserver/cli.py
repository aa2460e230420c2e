"""The command line: apiserver, kube-apiserver and python -m aio_apiserver are this.

Exit codes: 0 when it did what was asked, 1 when it failed, 2 when the command line made no sense. Nothing may be
imported here but what is small: a start loads with the garbage collector off, since nearly all that it makes stays.
"""

import gc
import signal
import sys
from collections.abc import Sequence

from aio_apiserver.apiserver import import_tuning


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for, or else the process' own. Returns the exit code."""
    _end_on_interrupt()
    gc.disable()  # the program turns it on again when it has started
    import_tuning.leave_out_plugins()
    try:
        from aio_apiserver.apiserver import command

        return command.run(sys.argv[1:] if arguments is None else arguments)
    finally:
        gc.enable()


def _end_on_interrupt() -> None:
    """Let Ctrl-C end the process while it loads: nothing is there yet that would have to be put in order.

    As an exception it would be lost, and the program go on, wherever Python calls back from within an import.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

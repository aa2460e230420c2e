"""CLI: the console scripts apiserver and kube-apiserver, and python -m aio_apiserver.

Exit codes: 0 for success, 1 for a failure, 2 for invalid arguments. Its imports must stay small: the garbage collector
is off while the server is imported, because nearly all of those objects stay.
"""

import gc
import signal
import sys
from collections.abc import Sequence

from aio_apiserver.apiserver.process import import_tuning


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of these arguments, or of the process. Returns the exit code."""
    _end_on_interrupt()
    gc.disable()  # the program turns it on again when it has started
    import_tuning.leave_out_plugins()
    try:
        from aio_apiserver.apiserver import command

        return command.run(sys.argv[1:] if arguments is None else arguments)
    finally:
        gc.enable()


def _end_on_interrupt() -> None:
    """Let Ctrl-C end the process while modules are imported. Nothing has to be closed at that time.

    KeyboardInterrupt would be lost where C code calls Python inside an import, and the program would continue.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

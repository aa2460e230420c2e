"""Worker: the main function of one process of --workers.

It does what the command line does for one process, in the slot that the supervisor hands over.
"""

import gc
import shutil
import sys
from collections.abc import Sequence

from aio_apiserver.apiserver.process import import_tuning
from aio_apiserver.apiserver.workers.slots import CANNOT_START, WorkerSlot


def main(arguments: Sequence[str]) -> int:
    """Serve in a slot until a signal arrives or the supervisor ends. Returns the exit code."""
    slot = WorkerSlot.parse(arguments[0])
    gc.disable()  # the program turns it on again when it has started
    import_tuning.leave_out_plugins()
    from aio_apiserver.apiserver import command

    try:
        return CANNOT_START if command.serve_in(slot, arguments[1:]) else 0
    finally:
        if slot.is_orphan:
            shutil.rmtree(slot.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

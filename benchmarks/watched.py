"""watched: python -m benchmarks.watched FILE FLAGS..., this server with a watchdog beside its event loop.

When the server ends, the file gets the callbacks that held the loop for long, each with its seconds of CPU time. Must
hold: what the server does before it is ready is left out.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from aio_apiserver.apiserver import cli
from tests import watchdog
from tests.watchdog import Hold, Watchdog

_LIMIT_SECONDS = 0.01


def main(file: Path, flags: Sequence[str]) -> int:
    """Serve until a signal comes. Returns the exit code."""
    watching = Watchdog(_LIMIT_SECONDS)
    try:
        with watching.watching():
            return cli.main(flags)
    finally:
        excused = watchdog.excused()
        file.write_bytes(msgspec.json.encode([hold for hold in watching.holds if not hold.is_excused(excused)]))


def holds(file: Path) -> Sequence[Hold]:
    """What the watchdog of an ended server has seen."""
    return msgspec.json.decode(file.read_bytes(), type=list[Hold])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))

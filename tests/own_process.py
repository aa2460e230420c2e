"""own_process: runs a part of a test in a process of its own, whose heap has nothing of other tests.

The part is a coroutine function of a module, and gets folders. It runs on the program's event loop, without the
watchdog of the tests. Must hold: a part that fails, warns or writes anything fails the test.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Callable, Coroutine
from pathlib import Path

from tests.paths import ROOT

_CODE = """\
import sys, uvloop
from pathlib import Path
from {module} import {name}
uvloop.run({name}(*map(Path, sys.argv[1:])))
"""


async def run_alone(work: Callable[..., Coroutine[None, None, None]], *folders: Path) -> None:
    """Return when the part has ended well."""
    code = _CODE.format(module=work.__module__, name=work.__name__)
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, *map(str, folders)), cwd=ROOT, stdout=PIPE, stderr=STDOUT
    )
    said, _ = await child.communicate()
    assert not said, said.decode()
    assert child.returncode == 0

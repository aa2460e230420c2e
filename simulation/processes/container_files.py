"""container_files: the directory below which the local containers of one server have their files and logs.

A process of its own (`leftovers.py`) watches over it. Must hold: when the server has ended, also by SIGKILL, the
processes of its containers end and the directory goes.
"""

import asyncio
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.processes import leftovers

_CLOSE_SECONDS = 10.0


class ContainerFiles:
    """The directory is made at its first use."""

    def __init__(self) -> None:
        self._root = ""
        self._guard: Process | None = None
        self._opening = asyncio.Lock()

    async def root(self) -> str:
        """The directory. Raises OSError."""
        async with self._opening:
            if not self._root:
                root = tempfile.mkdtemp(prefix="aio-apiserver-")
                self._guard = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", "-S", leftovers.__file__, root),
                    stdin=PIPE,
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    start_new_session=True,
                )
                self._root = root
        return self._root

    async def close(self) -> None:
        """End the processes that have left their sessions, and remove all files."""
        if self._guard is None:
            return
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._guard.wait()

    async def path(self, pod: Object, container: Object, number: int) -> Path:
        """The directory of a run of a container, whose log has the suffix `.log`. Raises OSError."""
        return _make_directory(Path(await self.root(), pod["metadata"]["uid"], f"{container['name']}-{number}"))

    async def remove_pod(self, uid: str) -> None:
        """Remove the files of a pod."""
        if self._root:
            await asyncio.to_thread(shutil.rmtree, Path(self._root, uid), ignore_errors=True)

    async def remove_run(self, path: Path) -> None:
        """Remove the directory of a run. Its log stays."""
        await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)


def _make_directory(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path

"""local_containers: the containers of a server that run as processes of this machine, with their logs.

Must hold: no process outlives its pod or the server. A container's files stay until its next run begins, and the logs
of its last two runs until the pod is gone.

A local process sees no mounts. The containers of a pod share its emptyDir volumes. Must hold: no copy is outside of
the directory.
"""

import asyncio
import os
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Protocol, TypeAlias

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.containers import courses
from aio_apiserver.simulation.model.container_contents import hostname
from aio_apiserver.simulation.processes import leftovers, local_process
from aio_apiserver.simulation.processes.container_files import ContainerFiles
from aio_apiserver.simulation.processes.local_process import CannotStart, LocalCommand, LocalProcess, StandardFiles
from aio_apiserver.simulation.processes.process_log import ProcessLog
from aio_apiserver.simulation.processes.runtime_words import NotCreated

_USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CLOSING_SECONDS = 1.0
"""The grace of processes whose pod or server is gone."""
_MOST_CLOSING_SECONDS = 10.0
_SLACK_SECONDS = 0.5
_LOGS_KEPT = 2

OnEnd: TypeAlias = Callable[[int], None]
"""Called with the exit code."""


class ContainerSources(Protocol):
    """What a container gets from the fields of its pod, ConfigMaps and Secrets."""

    async def variables(self, pod: Object, container: Object) -> Mapping[str, str]:
        """The environment variables that it names."""
        ...

    async def mounted(self, pod: Object, container: Object) -> Mapping[str, bytes]:
        """The files of its volumes by path."""
        ...


class _LocalRun:
    """A run of a container's command. The log stays when the process has ended."""

    def __init__(self, number: int, path: Path, log: ProcessLog) -> None:
        self.number = number
        self.path = path
        self.log = log
        self.process: LocalProcess | None = None
        self.deadline = float("inf")
        """When the process is killed."""


class LocalContainers:
    """The containers of all pods of a server. Pods are known by their uid."""

    def __init__(self, sources: ContainerSources, clock: Clock) -> None:
        self._sources = sources
        self._clock = clock
        self._files = ContainerFiles()
        self._runs: dict[str, dict[str, list[_LocalRun]]] = {}
        """The last runs of each container, by pod and name."""
        self._tasks = Tasks()
        self._serving: set[asyncio.Task[None]] = set()

    async def command(self, pod: Object, container: Object, number: int, argv: Sequence[str] = ()) -> LocalCommand:
        """A command in a container, or the container's own one. number: that of the run whose files it sees.

        Raises CannotStart.
        """
        variables = await self._sources.variables(pod, container)
        mounted = await self._sources.mounted(pod, container)
        with local_process.starting():
            root, own = await self._files.root(), await self._files.path(pod, container, number)
            place(own, pod, container, mounted)
        moved = MovedPaths(own, container)
        usual = {"PATH": os.environ.get("PATH", _USUAL_PATH), "HOSTNAME": hostname(pod), "HOME": str(own)}
        named = {name: moved.text(value) for name, value in variables.items()}
        wanted = [moved.text(one) for one in argv or courses.argv_of(container, variables)]
        return LocalCommand(wanted, {**usual, **named, leftovers.VARIABLE: root}, _directory(container, own))

    async def start(self, pod: Object, container: Object, number: int, on_end: OnEnd) -> None:
        """Start a container's own command. Raises NotCreated."""
        program = ""
        try:
            command = await self.command(pod, container, number)
            program = command.argv[0]
            with local_process.starting():
                path = await self._files.path(pod, container, number)
                run = _LocalRun(number, path, ProcessLog(path.with_name(f"{path.name}.log"), self._clock))
            await self._keep(pod, container, run)
            await self._begin(command, run, on_end)
        except CannotStart as exc:
            raise NotCreated(program, exc) from exc

    async def _keep(self, pod: Object, container: Object, run: _LocalRun) -> None:
        """Keep a new run, and remove what is older."""
        runs = self._runs.setdefault(pod["metadata"]["uid"], {}).setdefault(container["name"], [])
        runs.append(run)
        for old in runs[:-1]:
            await self._files.remove_run(old.path)
        for old in runs[:-_LOGS_KEPT]:
            old.log.remove()
        del runs[:-_LOGS_KEPT]

    async def _begin(self, command: LocalCommand, run: _LocalRun, on_end: OnEnd) -> None:
        """Raises CannotStart."""
        async with AsyncExitStack() as stack:
            with local_process.starting():
                files = local_process.pipes(stack.enter_context(ExitStack()))
            run.process = await stack.enter_async_context(local_process.started(command, files))
            serving = self._serve(run, run.process, files, stack.pop_all(), on_end)
        task = self._tasks.spawn(serving, name=f"container of {command.argv[0]}")
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(
        self, run: _LocalRun, process: LocalProcess, files: StandardFiles, stack: AsyncExitStack, on_end: OnEnd
    ) -> None:
        """Write the log of a process until it has ended."""
        try:
            async with stack, asyncio.TaskGroup() as group:
                for channel, source in files.outputs:
                    group.create_task(source.forward(channel, run.log), name="output of a container")
                code = await process.ended()
                for _, source in files.outputs:
                    source.finish()
        finally:
            run.process = None
            run.log.end()
        on_end(code)

    def is_running(self, uid: str) -> bool:
        """Whether a pod has a process."""
        return any(one.process is not None for one in self._runs_of(uid))

    def log(self, uid: str, container: str, number: int) -> ProcessLog | None:
        """The log of a run."""
        runs = self._runs.get(uid, {}).get(container, ())
        return next((one.log for one in runs if one.number == number), None)

    def stop(self, uid: str, grace: float) -> None:
        """Send SIGTERM to the processes of a pod, and kill them after some seconds. A later call can shorten that."""
        for run in self._runs_of(uid):
            deadline = self._clock.patience.monotonic() + grace
            if run.process is None or deadline > run.deadline - _SLACK_SECONDS:
                continue
            if run.deadline == float("inf"):
                run.process.terminate()
            run.deadline = deadline
            self._tasks.spawn(self._kill(run.process, grace), name="grace period of a container")

    async def _kill(self, process: LocalProcess, grace: float) -> None:
        await self._clock.patience.sleep(grace)
        process.kill()

    def forget(self, uid: str) -> None:
        """End the processes of a pod that is gone, and remove its files."""
        self._tasks.spawn(self._forget(uid), name="files of a pod")

    async def _forget(self, uid: str) -> None:
        self.stop(uid, _CLOSING_SECONDS)
        while self.is_running(uid):
            await asyncio.wait(self._serving, return_when=asyncio.FIRST_COMPLETED)
        for runs in self._runs.pop(uid, {}).values():
            for run in runs:
                run.log.remove()
        await self._files.remove_pod(uid)

    async def end_all(self) -> None:
        """End all processes."""
        for uid in self._runs:
            self.stop(uid, _CLOSING_SECONDS)
        if self._serving:
            await asyncio.wait(self._serving, timeout=_MOST_CLOSING_SECONDS)

    async def close(self) -> None:
        """End all processes, and remove all files."""
        await self.end_all()
        await self._tasks.close()
        for run in [one for uid in self._runs for one in self._runs_of(uid)]:
            run.log.remove()
        await self._files.close()

    def _runs_of(self, uid: str) -> Sequence[_LocalRun]:
        return [run for runs in self._runs.get(uid, {}).values() for run in runs]


def _directory(container: Object, own: Path) -> str:
    """The working directory of a container, if this machine has it, or else the container's own one."""
    wanted = str(container.get("workingDir") or "")
    return wanted if Path(wanted).is_absolute() and Path(wanted).is_dir() else str(own)


def place(directory: Path, pod: Object, container: Object, files: Mapping[str, bytes]) -> None:
    """Write the files of volumes by path into a directory that is empty. Raises OSError."""
    if any(directory.iterdir()):
        return
    for path, data in files.items():
        target = _below(directory, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    shared = {one["name"] for one in pod["spec"].get("volumes") or () if "emptyDir" in one}
    for mount in container.get("volumeMounts") or ():
        if mount["name"] in shared:
            inside = _below(directory.parent / "volumes" / mount["name"], mount.get("subPath") or "")
            inside.mkdir(parents=True, exist_ok=True)
            _link(_below(directory, mount["mountPath"]), inside)


def _below(directory: Path, path: str) -> Path:
    return directory / posixpath.normpath(f"/{path}").lstrip("/")


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(target)


class MovedPaths:
    """The paths at which a container mounts volumes, moved into its directory."""

    def __init__(self, directory: Path, container: Object) -> None:
        paths = {posixpath.normpath(one["mountPath"]) for one in container.get("volumeMounts") or ()} - {"/"}
        known = "|".join(re.escape(one) for one in sorted(paths, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w./-])(?:{known})(?![\w.-])") if known else None
        self._directory = str(directory)

    def text(self, text: str) -> str:
        """An argument or a variable that names the copies."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._directory + found[0], text)

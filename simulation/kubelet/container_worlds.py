"""Container worlds: the files, the environment and the programs of the containers of simulated pods.

It knows no HTTP. Commands see what the container's own script has written by now. Must hold: files that a program has
written stay until the container restarts, and those in volumes as long as `volume_trees.py` says. Containers of other
pods have files of their own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from aio_apiserver.base.budget import Budget, BudgetExceeded
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.pods import seconds
from aio_apiserver.controllers.runtime.resources import CONFIG_MAPS, PODS, SECRETS
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.simulation.containers import courses
from aio_apiserver.simulation.containers.answers import not_simulated
from aio_apiserver.simulation.containers.commands import COMMANDS
from aio_apiserver.simulation.containers.courses import PresentFiles
from aio_apiserver.simulation.containers.files import FileError, Files, FileTree, SharedTree, shared_trees, tree_of
from aio_apiserver.simulation.containers.memory import Holder, Memory, OutOfMemory
from aio_apiserver.simulation.containers.playback import Playback, runs_on
from aio_apiserver.simulation.containers.process_budget import COMMAND, PROBE, PROGRAM, ProcessBudget, ProcessLimits
from aio_apiserver.simulation.containers.shell import Shell, World
from aio_apiserver.simulation.containers.steps import ERROR, FOREVER, Steps, Written
from aio_apiserver.simulation.containers.turns import Turns, TurnShare
from aio_apiserver.simulation.kubelet.shared_volumes import SharedVolumes
from aio_apiserver.simulation.kubelet.volume_trees import VolumeTrees
from aio_apiserver.simulation.model import container_contents as contents
from aio_apiserver.simulation.model.annotations import PREFIX
from aio_apiserver.simulation.model.container_contents import Data, Sources

_NOT_FOUND = 127
_MOST_EARLIER = 3
"""The earlier runs that are played for the files in their volumes."""
_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_Missing = Callable[[str, Sequence[str]], Steps]


class _RunWorld:
    """What the commands in one run of a container share. `main` plays the container's own program."""

    def __init__(self, number: int, memory: Memory, files: Files, env: Mapping[str, str]) -> None:
        self.number = number
        self.files = files
        self.env = env
        self.main: Playback | None = None
        self._holder = Holder(memory)

    def mount(self, mounts: Mapping[str, bytes]) -> None:
        """Replace the mounted files. Raises OutOfMemory."""
        variables = sum(len(name) + len(value) for name, value in self.env.items())
        self._holder.hold(variables + sum(len(path) + len(data) for path, data in mounts.items()))
        self.files.mount(mounts)

    async def play(self, until: float, share: TurnShare) -> None:
        """Play the container's own program up to a time."""
        if self.main is not None:
            await self.main.play(until, share)


class ContainerWorlds:
    """The containers of all pods of a server. `memory`: that of their files and processes.

    Methods that make a process raise BudgetExceeded when its variables and files are too much.
    """

    def __init__(self, client: ControllerClient, clock: Clock) -> None:
        self._turns = Turns()
        self._client = client
        self._clock = clock
        self.memory = Memory()
        self._volumes = VolumeTrees(client, self.memory)
        self._pods: dict[str, dict[str, _RunWorld]] = {}
        """The newest run of each container that was used, by the uid of its pod and by name."""
        self._present: dict[str, PresentFiles] = {}

    async def pod(self, namespace: str, name: str) -> Object | None:
        """The present state of a pod."""
        return await self._client.get(PODS, f"{namespace}/{name}")

    def share_of(self, pod: Object) -> TurnShare:
        """The turns of the processes of a pod. Each namespace has its share."""
        return TurnShare(self._turns, pod["metadata"]["namespace"])

    async def shell(self, pod: Object, container: Object) -> Shell:
        """A process in a container."""
        name = container["name"]
        began = _started(pod, name) or self._clock.now()
        world = await self._world(pod, container, restarts_of(pod, name), began)
        budget = Budget(contents.LIMITS)
        sources = await self._sources(pod, budget)
        self._mount(world, contents.mounts(pod, container, sources, budget))
        return self._process(pod, container, world.files, world.env, _missing, COMMAND)

    async def probing_shell(self, pod: Object, container: Object, number: int, began: float) -> Shell:
        """A process for a probe of a run that began at this time. Without a simulation it raises NotSimulated."""
        world = await self._world(pod, container, number, began)
        return self._process(pod, container, world.files, world.env, not_simulated, PROBE)

    async def apart(self, pod: Object, container: Object) -> Shell:
        """A process that begins with the files of the volumes and of init containers, and shares no others."""
        trees = {name: self._tree_of(present) for name, present in (await self.present_files(pod)).items()}
        volumes, budget = SharedVolumes(pod), Budget(contents.LIMITS)
        sources = await self._sources(pod, budget)
        for one in (*volumes.written_before(container), container):
            shared = shared_trees(volumes.paths(one), lambda name: trees.setdefault(name, FileTree(self.memory)))
            files, env = self._files(shared), contents.environment(pod, one, sources, budget)
            world = _RunWorld(0, self.memory, files, env)
            self._mount(world, contents.mounts(pod, one, sources, budget))
            if one is not container and (main := self._main(pod, one, world, 0.0)) is not None:
                await main.play(FOREVER, self.share_of(pod))
        return self._process(pod, container, files, env, _missing, PROGRAM)

    async def present_files(self, pod: Object) -> PresentFiles:
        """The files that other pods had left in the volumes of a pod when it was first seen."""
        uid = pod["metadata"]["uid"]
        if SharedVolumes(pod).outlasting and uid not in self._present:
            self._present[uid] = await self._volumes.present_files(pod)
        return self._present.get(uid, {})

    async def play(self, pod: Object) -> None:
        """Play the programs of a pod up to now, so that other pods find the files in volumes that outlast it."""
        for one in contents.containers_of(pod) if SharedVolumes(pod).outlasting else ():
            if (start := _started(pod, one["name"])) is not None:
                await self._played(pod, one, restarts_of(pod, one["name"]), start)

    def forget(self, uid: str) -> None:
        """Remove the files of a pod that is gone."""
        self._pods.pop(uid, None)
        self._present.pop(uid, None)
        self._volumes.forget(uid)

    async def _contents(self, pod: Object, container: Object, number: int) -> _RunWorld:
        """A run with the files of the volumes, and the environment."""
        budget = Budget(contents.LIMITS)
        sources = await self._sources(pod, budget)
        shared = await self._volumes.mounted(pod, container)
        env = contents.environment(pod, container, sources, budget)
        world = _RunWorld(number, self.memory, self._files(shared), env)
        self._mount(world, contents.mounts(pod, container, sources, budget))
        return world

    def _files(self, shared: Sequence[SharedTree]) -> Files:
        with self._memory_needed():
            return Files(self.memory, None, shared)

    def _tree_of(self, present: Mapping[str, bytes]) -> FileTree:
        with self._memory_needed():
            return tree_of(present, self.memory)

    def _mount(self, world: _RunWorld, mounts: Mapping[str, bytes]) -> None:
        with self._memory_needed():
            world.mount(mounts)

    @contextmanager
    def _memory_needed(self) -> Iterator[None]:
        try:
            yield
        except (FileError, OutOfMemory) as exc:
            raise BudgetExceeded("bytes", self.memory.limit) from exc

    def _process(
        self,
        pod: Object,
        container: Object,
        files: Files,
        env: Mapping[str, str],
        missing: _Missing,
        limits: ProcessLimits,
    ) -> Shell:
        budget = ProcessBudget(limits, self.memory)
        world = World(files, budget, COMMANDS, missing, self._clock.now, contents.hostname(pod))
        return Shell(world, env, container.get("workingDir") or "/")

    async def _world(self, pod: Object, container: Object, number: int, began: float) -> _RunWorld:
        """A run of a container, whose own program has been played up to now, and so have those that share volumes."""
        volumes = SharedVolumes(pod)
        for other in volumes.sharing(container):
            if (start := _started(pod, other["name"])) is not None:
                await self._played(pod, other, restarts_of(pod, other["name"]), start)
        for other in volumes.written_before(container):  # their status may not be written yet
            run = await self._run(pod, other, restarts_of(pod, other["name"]), began)
            await run.play(FOREVER, self.share_of(pod))
        return await self._played(pod, container, number, began)

    async def _played(self, pod: Object, container: Object, number: int, began: float) -> _RunWorld:
        """A run of a container. Earlier runs have written their files into its volumes."""
        before, first = self._pods.setdefault(pod["metadata"]["uid"], {}).get(container["name"]), number
        if SharedVolumes(pod).paths(container):
            first = max(number - _MOST_EARLIER, before.number if before is not None else 0)
        for one in range(first, number):
            await (await self._run(pod, container, one, 0.0)).play(began, self.share_of(pod))
        run = await self._run(pod, container, number, began)
        await run.play(self._clock.now(), self.share_of(pod))
        return run

    async def _run(self, pod: Object, container: Object, number: int, began: float) -> _RunWorld:
        """The run with this number or a newer one."""
        runs, name = self._pods.setdefault(pod["metadata"]["uid"], {}), container["name"]
        if _is_older(runs.get(name), number):
            made = await self._contents(pod, container, number)
            if _is_older(runs.get(name), number):
                runs[name] = made
                made.main = self._main(pod, container, made, began)
        return runs[name]

    def _main(self, pod: Object, container: Object, world: _RunWorld, began: float) -> Playback | None:
        """The own program of a container; None where its image decides, or `kubectl attach` begins it."""
        fields = contents.with_fields(pod, container)
        argv = courses.argv_of(fields, courses.env_of(fields))
        if not argv or container.get("stdin"):
            return None
        shell = self._process(pod, container, world.files, world.env, runs_on, PROGRAM)
        return Playback(shell, argv, began)

    async def variables(self, pod: Object, container: Object) -> Mapping[str, str]:
        """The environment variables that a container names."""
        budget = Budget(contents.LIMITS)
        return contents.variables(pod, container, await self._sources(pod, budget), budget)

    async def mounted(self, pod: Object, container: Object) -> Mapping[str, bytes]:
        """The files of a container's volumes by path."""
        budget = Budget(contents.LIMITS)
        return contents.mounted(pod, container, await self._sources(pod, budget), budget)

    async def _sources(self, pod: Object, budget: Budget) -> Sources:
        config_maps, secrets = contents.names_in(pod)
        namespace = pod["metadata"]["namespace"]
        return Sources(
            {name: await self._data(CONFIG_MAPS, namespace, name, budget) for name in config_maps},
            {name: await self._data(SECRETS, namespace, name, budget) for name in secrets},
        )

    async def end(self, pod: Object, code: int) -> None:
        """Let the containers of a pod end, as its annotations can say."""

        def edit(present: Object) -> None:
            annotations = present["metadata"].get("annotations") or {}
            ended = {f"{PREFIX}phase": "Failed" if code else "Succeeded", f"{PREFIX}exit-code": str(code)}
            present["metadata"]["annotations"] = {**annotations, **ended}

        await self._client.change(PODS, pod, edit)

    async def _data(self, place: ResourcePath, namespace: str, name: str, budget: Budget) -> Data:
        source = await self._client.get(place, f"{namespace}/{name}")
        return contents.data_of(source, budget, is_secret=place == SECRETS)


def _is_older(world: _RunWorld | None, number: int) -> bool:
    return world is None or world.number < number


def status_of(pod: Object, container: str) -> Object:
    """The status of a container; empty when it has none."""
    status = pod.get("status") or {}
    every = (one for member in _STATUSES for one in status.get(member) or ())
    return next((one for one in every if one["name"] == container), {})


def _started(pod: Object, container: str) -> float | None:
    """When the newest run of a container began; None before the first one."""
    shown = status_of(pod, container)
    state, last = shown.get("state") or {}, shown.get("lastState") or {}
    times = state.get("running") or state.get("terminated") or last.get("terminated")
    return seconds(times["startedAt"]) if times else None


def restarts_of(pod: Object, container: str) -> int:
    return int(status_of(pod, container).get("restartCount", 0))


def _missing(name: str, _arguments: Sequence[str]) -> Steps:
    text = f"sh: {name}: not found (containers are simulated; docs/controllers.md lists their commands)\n"
    yield Written(text.encode(), ERROR)
    return _NOT_FOUND

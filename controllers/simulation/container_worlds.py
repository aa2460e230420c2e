"""Container worlds: the files, the environment and the programs of the containers of simulated pods.

It knows no HTTP. Must hold: files that a program has written stay until the container restarts. Containers of other
pods have files of their own.
"""

from collections import OrderedDict
from collections.abc import Sequence

from aio_apiserver.controllers.containers.commands import COMMANDS
from aio_apiserver.controllers.containers.files import Files
from aio_apiserver.controllers.containers.shell import Shell, World
from aio_apiserver.controllers.containers.steps import ERROR, Steps, Written
from aio_apiserver.controllers.decisions import container_contents as contents
from aio_apiserver.controllers.decisions.annotations import PREFIX
from aio_apiserver.controllers.decisions.container_contents import Data, Sources
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.places import CONFIG_MAPS, PODS, SECRETS
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import Object

_MOST = 256
"""The containers whose files are kept. Those that were used last stay."""
_NOT_FOUND = 127


class ContainerWorlds:
    """The containers of all pods of a server."""

    def __init__(self, client: ControllerClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._files: OrderedDict[tuple[str, str, int], Files] = OrderedDict()

    async def pod(self, namespace: str, name: str) -> Object | None:
        """The present state of a pod."""
        return await self._client.get(PODS, f"{namespace}/{name}")

    async def shell(self, pod: Object, container: Object) -> Shell:
        """A process in a container."""
        config_maps, secrets = contents.names_in(pod)
        namespace = pod["metadata"]["namespace"]
        sources = Sources(
            {name: await self._data(CONFIG_MAPS, namespace, name) for name in config_maps},
            {name: await self._data(SECRETS, namespace, name) for name in secrets},
        )
        files = self._files_of(pod, container)
        files.mount(contents.mounts(pod, container, sources))
        world = World(files, COMMANDS, _missing, self._clock.now, contents.hostname(pod))
        return Shell(world, contents.environment(pod, container, sources), container.get("workingDir") or "/")

    async def end(self, pod: Object, code: int) -> None:
        """Let the containers of a pod end, as its annotations can say."""

        def edit(present: Object) -> None:
            annotations = present["metadata"].get("annotations") or {}
            ended = {f"{PREFIX}phase": "Failed" if code else "Succeeded", f"{PREFIX}exit-code": str(code)}
            present["metadata"]["annotations"] = {**annotations, **ended}

        await self._client.change(PODS, pod, edit)

    async def _data(self, place: ResourcePath, namespace: str, name: str) -> Data:
        found = await self._client.get(place, f"{namespace}/{name}")
        return contents.data_of(found, is_secret=place == SECRETS)

    def _files_of(self, pod: Object, container: Object) -> Files:
        key = (pod["metadata"]["uid"], container["name"], restarts_of(pod, container["name"]))
        found = self._files.get(key) or self._files.setdefault(key, Files())
        self._files.move_to_end(key)
        if len(self._files) > _MOST:
            self._files.popitem(last=False)
        return found


def status_of(pod: Object, container: str) -> Object:
    """The status of a container; empty when it has none."""
    status = pod.get("status") or {}
    every = (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ()))
    return next((one for one in every if one["name"] == container), {})


def restarts_of(pod: Object, container: str) -> int:
    return int(status_of(pod, container).get("restartCount", 0))


def _missing(name: str, _arguments: Sequence[str]) -> Steps:
    text = f"sh: {name}: not found (containers are simulated; docs/controllers.md lists their commands)\n"
    yield Written(text.encode(), ERROR)
    return _NOT_FOUND

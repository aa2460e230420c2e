"""Volume binding: the part of the scheduler that looks at a pod's claims, and that chooses volumes for them."""

from collections.abc import Callable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import ControllerClient, key_of
from aio_apiserver.controllers.runtime.informers import Informer
from aio_apiserver.controllers.runtime.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from aio_apiserver.controllers.volumes import pod_volumes
from aio_apiserver.controllers.volumes import volume_matching as volumes
from aio_apiserver.controllers.volumes.volume_index import VolumeIndex
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.simulation.scheduling import volume_scheduling
from aio_apiserver.simulation.scheduling.volume_scheduling import PodClaims

Follow = Callable[[ResourcePath], Informer]


class VolumeBinding:
    """The claims of the pods of one scheduler. `queue` adds the key of a pod."""

    def __init__(self, follow: Follow, queue: Callable[[str], None]) -> None:
        self._queue = queue
        self._waiting: dict[str, set[str]] = {}
        """The keys of waiting pods by the key of a claim."""
        self._index = VolumeIndex()
        self._claims = follow(PERSISTENT_VOLUME_CLAIMS)
        self._claims.listen(lambda key, _before, _after: self._look_again(key))
        self._volumes = follow(PERSISTENT_VOLUMES)
        self._volumes.listen(self._index.change)
        self._volumes.listen(lambda _key, _before, _after: self._look_again(*self._waiting))
        self._classes = follow(STORAGE_CLASSES)
        self._classes.listen(lambda _key, _before, _after: self._look_again(*self._waiting))

    def _look_again(self, *claims: str) -> None:
        for claim in claims:
            for pod in self._waiting.pop(claim, ()):
                self._queue(pod)

    def of(self, pod: Object) -> PodClaims:
        """The claims of a pod."""
        return volume_scheduling.claims_of(pod, self._claims.get, self._volumes.get, self._classes.get)

    def wait(self, pod: Object) -> None:
        """Queue a pod again when one of its claims changes."""
        for name, _ in pod_volumes.claims_of(pod):
            self._waiting.setdefault(f"{pod['metadata']['namespace']}/{name}", set()).add(key_of(pod))

    def keeps_away(self, found: PodClaims) -> Callable[[Object], str]:
        """The function that names the reason why claims exclude a node."""
        free = {key_of(claim): list(self._index.candidates(claim)) for claim, _ in found.open}
        return lambda node: volume_scheduling.keeps_away(found, lambda claim: free[key_of(claim)], node)

    async def assign(self, client: ControllerClient, found: PodClaims, node: Object) -> None:
        """Reserve volumes for the open claims, or let them name the node for their provisioner."""
        for claim, volume in volume_scheduling.assignments(found, self._index.candidates, node) or ():
            if volume is None:
                await client.change(PERSISTENT_VOLUME_CLAIMS, claim, lambda one: volumes.select_node(one, _name(node)))
            else:
                await client.change(PERSISTENT_VOLUMES, volume, volumes.unless_taken(claim))


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])

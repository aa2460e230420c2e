"""volume_trees: the files that programs of simulated containers have written into volumes, in memory.

Must hold: an emptyDir has its files until its pod is gone. Another claim of the same name begins without files. Of
claims and host paths, those that were used last are kept.

    emptyDir                  by the uid of the pod and the name of the volume
    PersistentVolumeClaim     by the uid of the claim
    hostPath                  by the node and the path
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.resources import PERSISTENT_VOLUME_CLAIMS
from aio_apiserver.simulation.containers import files
from aio_apiserver.simulation.containers.courses import PresentFiles
from aio_apiserver.simulation.containers.files import FileTree, SharedTree
from aio_apiserver.simulation.containers.memory import Memory
from aio_apiserver.simulation.kubelet.shared_volumes import SharedVolumes

_MOST_KEPT = 256
_MOST_PRESENT = 64 * 1024
_CLAIM, _HOST = "claim", "host"


class VolumeTrees:
    """The volumes of all pods of a server."""

    def __init__(self, client: ControllerClient, memory: Memory) -> None:
        self._client = client
        self._memory = memory
        self._of_pods: dict[str, dict[str, FileTree]] = {}
        self._kept: OrderedDict[tuple[str, str], FileTree] = OrderedDict()
        """Those of claims and nodes."""

    async def mounted(self, pod: Object, container: Object) -> Sequence[SharedTree]:
        """The volumes of a container at their paths."""
        paths = SharedVolumes(pod).paths(container)
        claims = {one.volume: await self._claim(pod, one.volume) for one in paths if one.volume.startswith(_CLAIM)}
        return files.shared_trees(paths, lambda volume: self._tree(pod, volume, claims))

    async def present_files(self, pod: Object) -> PresentFiles:
        """The files in those volumes of a pod that other pods can mount. Volumes with much data are left out."""
        contents: dict[str, Mapping[str, bytes]] = {}
        left = _MOST_PRESENT
        for volume in SharedVolumes(pod).outlasting:
            claims = {volume: await self._claim(pod, volume)} if volume.startswith(_CLAIM) else {}
            present = dict(self._tree(pod, volume, claims).files)
            size = sum(len(path) + len(data) for path, data in present.items())
            if present and size <= left:
                contents[volume], left = present, left - size
        return contents

    def forget(self, uid: str) -> None:
        """Remove the emptyDir volumes of a pod that is gone."""
        self._of_pods.pop(uid, None)

    async def _claim(self, pod: Object, volume: str) -> str:
        """The uid of a claim; empty when it is gone."""
        name = volume.partition(":")[2]
        found = await self._client.get(PERSISTENT_VOLUME_CLAIMS, f"{pod['metadata']['namespace']}/{name}")
        return str(found["metadata"]["uid"]) if found is not None else ""

    def _tree(self, pod: Object, volume: str, claims: Mapping[str, str]) -> FileTree:
        if volume in claims:
            return self._keep((_CLAIM, claims[volume]))
        if volume.startswith(_HOST):
            return self._keep((pod["spec"].get("nodeName", ""), volume))
        return self._of_pods.setdefault(pod["metadata"]["uid"], {}).setdefault(volume, FileTree(self._memory))

    def _keep(self, key: tuple[str, str]) -> FileTree:
        tree = self._kept.setdefault(key, FileTree(self._memory))
        self._kept.move_to_end(key)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return tree

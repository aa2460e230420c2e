"""shared_volumes: the volumes that simulated containers can write into, and the containers that share them.

Pure.
"""

import posixpath
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.containers.files import SharedPath
from aio_apiserver.simulation.model.container_contents import containers_of


class SharedVolumes:
    """The volumes of a pod that programs can write into. They are read once.

    The files of an emptyDir are kept at `pod:NAME`, those of other volumes at `claim:NAME` and `host:PATH`.
    """

    def __init__(self, pod: Object) -> None:
        volumes = {one["name"]: kept for one in pod["spec"].get("volumes") or () if (kept := _kept_at(pod, one))}
        self._containers = list(containers_of(pod))
        self._paths = {one["name"]: _paths(one, volumes) for one in self._containers}
        self._volumes = {name: {path.volume for path in paths} for name, paths in self._paths.items()}
        self._init_containers = pod["spec"].get("initContainers") or ()
        self.outlasting = [one for one in volumes.values() if not one.startswith("pod:")]
        """Where the files of those volumes are kept that other pods can mount, too."""

    def paths(self, container: Object) -> Sequence[SharedPath]:
        """The volumes of a container, by where their files are kept."""
        return self._paths.get(container["name"], ())

    def sharing(self, container: Object) -> Sequence[Object]:
        """The other containers that mount a volume of this one."""
        return [one for one in self._containers if self._shares(container, one)]

    def written_before(self, container: Object) -> Sequence[Object]:
        """The init containers that have ended when a container starts, and mount a volume of it."""
        started = takewhile(lambda one: one["name"] != container["name"], self._init_containers)
        return [one for one in started if one.get("restartPolicy") != "Always" and self._shares(container, one)]

    def _shares(self, container: Object, other: Object) -> bool:
        volumes = self._volumes.get(container["name"], set())
        return other["name"] != container["name"] and not volumes.isdisjoint(self._volumes[other["name"]])


def _paths(container: Object, volumes: Mapping[str, str]) -> Sequence[SharedPath]:
    return [
        SharedPath(posixpath.normpath(one["mountPath"]), volumes[one["name"]], _inside(one))
        for one in container.get("volumeMounts") or ()
        if one["name"] in volumes
    ]


def _kept_at(pod: Object, volume: Mapping[str, Any]) -> str:
    """Where the files of a volume are kept; empty for those that programs cannot write into."""
    if "emptyDir" in volume:
        return f"pod:{volume['name']}"
    if claim := volume.get("persistentVolumeClaim"):
        return f"claim:{claim['claimName']}"
    if "ephemeral" in volume:
        return f"claim:{pod['metadata']['name']}-{volume['name']}"
    host = volume.get("hostPath")
    return f"host:{posixpath.normpath(host['path'])}" if host else ""


def _inside(mount: Mapping[str, Any]) -> str:
    """The directory of a volume that is mounted; empty for all of it."""
    path = (mount.get("subPath") or "").strip("/")
    return f"/{path}" if path else ""

"""shared_volumes: the volumes that a simulated container can write into, and the containers that share them.

Pure.
"""

import posixpath
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.containers.files import SharedPath
from aio_apiserver.simulation.model.container_contents import containers_of


def shared_paths(pod: Object, container: Object) -> Sequence[SharedPath]:
    """The volumes of a container that programs can write into, by where their files are kept.

    These are `pod:NAME` for an emptyDir, `claim:NAME`, and `host:PATH`.
    """
    places = {one["name"]: place for one in pod["spec"].get("volumes") or () if (place := _place(pod, one))}
    return [
        SharedPath(posixpath.normpath(one["mountPath"]), places[one["name"]], _inside(one))
        for one in container.get("volumeMounts") or ()
        if one["name"] in places
    ]


def _place(pod: Object, volume: Mapping[str, Any]) -> str:
    """Where the files of a volume are kept; empty for those that programs cannot write into."""
    if "emptyDir" in volume:
        return f"pod:{volume['name']}"
    if claim := volume.get("persistentVolumeClaim"):
        return f"claim:{claim['claimName']}"
    if "ephemeral" in volume:
        return f"claim:{pod['metadata']['name']}-{volume['name']}"
    host = volume.get("hostPath")
    return f"host:{posixpath.normpath(host['path'])}" if host else ""


def sharing(pod: Object, container: Object) -> Sequence[Object]:
    """The other containers of a pod that mount a volume of this one."""
    volumes = {one.volume for one in shared_paths(pod, container)}
    others = [one for one in containers_of(pod) if one["name"] != container["name"]] if volumes else ()
    return [one for one in others if any(path.volume in volumes for path in shared_paths(pod, one))]


def outlasting(pod: Object) -> Sequence[str]:
    """Where the files of those volumes of a pod are kept that other pods can mount, too."""
    places = [_place(pod, one) for one in pod["spec"].get("volumes") or ()]
    return [one for one in places if one and not one.startswith("pod:")]


def written_before(pod: Object, container: Object) -> Sequence[Object]:
    """The init containers that have ended when a container starts, and mount a volume of it."""
    started = takewhile(lambda one: one["name"] != container["name"], pod["spec"].get("initContainers") or ())
    ended = [one["name"] for one in started if one.get("restartPolicy") != "Always"]
    return [one for one in sharing(pod, container) if one["name"] in ended] if ended else ()


def _inside(mount: Mapping[str, Any]) -> str:
    """The directory of a volume that is mounted; empty for all of it."""
    path = (mount.get("subPath") or "").strip("/")
    return f"/{path}" if path else ""

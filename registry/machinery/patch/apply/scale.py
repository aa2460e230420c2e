"""Scale: the owners of an object's replicas as owners of its Scale's replicas, and back.

Pure. Must hold: it does what kube-apiserver does to the letter. An updater has another identity in the Scale, because
that is of another version; so what it owns comes back as an entry of its own, which nobody knows since when.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.machinery.patch.apply import elements, fields, managed
from aio_apiserver.registry.machinery.patch.apply.elements import Path
from aio_apiserver.registry.machinery.patch.apply.managed import Entry, Owned, Owner

API_VERSION = "autoscaling/v1"
_REPLICAS: Path = (elements.field("spec"), elements.field("replicas"))

Paths = Mapping[str, Path | None]
"""Where an object has its replicas, by apiVersion; None in a version without a Scale."""


def entries_of_scale(parent: Sequence[Entry], paths: Paths) -> list[dict[str, Any]]:
    """The managed fields of an object's Scale."""
    mine = fields.of_paths([_REPLICAS])
    return managed.written(
        {
            owner: Owned(API_VERSION, mine, owned.time)
            for owner, owned in managed.known(parent).items()
            if (path := paths.get(owned.api_version)) and fields.has(owned.fields, path)
        }
    )


def entries_of_parent(
    scale: Sequence[Entry], parent: Sequence[Entry], paths: Paths, api_version: str
) -> list[dict[str, Any]]:
    """The managed fields of an object after a write of its Scale, which was served under an apiVersion."""
    before, scaled = managed.known(parent), managed.known(scale)
    here = paths[api_version]
    assert here is not None, "only a version with a Scale serves one"
    replicas = fields.of_paths([here])
    result: dict[Owner, Owned] = {}
    settled = set()
    for owner, owned in before.items():
        if owned.api_version not in paths:
            continue  # of a version that is not served any more
        path = paths[owned.api_version]
        if path is None or not fields.has(owned.fields, path):
            result[owner] = owned
        elif owner in scaled:
            result[owner] = owned
            settled.add(owner)
        elif rest := fields.difference(owned.fields, fields.of_paths([path])):
            result[owner] = owned._replace(fields=rest)
    for owner, owned in scaled.items():
        if owner not in settled and fields.has(owned.fields, _REPLICAS):
            since = before[owner].time if owner in before else ""
            result[owner] = Owned(api_version, replicas, since)
    return managed.written(result)

"""Scale: translates managedFields of spec.replicas between an object and its Scale subresource.

Pure. Must hold: the results are kube-apiserver's. A write to the Scale has another apiVersion, so its updater is
another manager. Its fields come back as a separate entry without time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from aio_apiserver.registry.machinery.patch.apply import elements, fields, managed_fields
from aio_apiserver.registry.machinery.patch.apply.elements import Path
from aio_apiserver.registry.machinery.patch.apply.managed_fields import Entry, Owned, Owner

API_VERSION = "autoscaling/v1"
_REPLICAS: Path = (elements.field("spec"), elements.field("replicas"))

Paths = Mapping[str, Path | None]
"""The path of the replicas by apiVersion; None for a version without Scale."""


def entries_of_scale(parent: Sequence[Entry], paths: Paths) -> list[dict[str, Any]]:
    """The managedFields of an object's Scale."""
    mine = fields.of_paths([_REPLICAS])
    return managed_fields.written(
        {
            owner: Owned(API_VERSION, mine, owned.time)
            for owner, owned in managed_fields.owners(parent).items()
            if (path := paths.get(owned.api_version)) and fields.has(owned.fields, path)
        }
    )


def entries_of_parent(
    scale: Sequence[Entry], parent: Sequence[Entry], paths: Paths, api_version: str
) -> list[dict[str, Any]]:
    """The managedFields of an object after a write of its Scale in `api_version`."""
    before, scaled = managed_fields.owners(parent), managed_fields.owners(scale)
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
            result[owner] = replace(owned, fields=rest)
    for owner, owned in scaled.items():
        if owner not in settled and fields.has(owned.fields, _REPLICAS):
            since = before[owner].time if owner in before else ""
            result[owner] = Owned(api_version, replicas, since)
    return managed_fields.written(result)

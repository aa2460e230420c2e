"""Volumes: warnings for removed volume plugins, and for files of one volume with the same path. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import resource_names

_GONE = (
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("ephemeral", "ephemeral", ""),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
)
"""The field, its name in the warning, and the text."""

_MOST_COMPARED = 500
"""At most this many files of a volume are compared with each other."""

Obj = Mapping[str, Any]


class _File(Struct, frozen=True):
    """A path in a volume, and the source of its content."""

    path: str
    source: str = ""

    def __str__(self) -> str:
        return f"{quote(self.path)} ({self.source})" if self.source else quote(self.path)


def warn(volumes: Sequence[Obj], path: str) -> list[str]:
    """All warnings of a pod's volumes."""
    found = []
    for index, volume in enumerate(volumes):
        for member, shown, why in _GONE:
            source = volume.get(member)
            if source is not None:
                here = f"{path}[{index}].{shown}"
                found += [f"{here}: {why}"] if why else _warn_of_claim(source, here)
    for volume in volumes:
        found += _warn_of_files(volume)
    return found


def _warn_of_claim(source: Obj, path: str) -> list[str]:
    claim = (source.get("volumeClaimTemplate") or {}).get("spec") or {}
    return warn_of_claim(claim, f"{path}.volumeClaimTemplate.spec")


def warn_of_claim(spec: Obj, path: str) -> list[str]:
    """Warn of fractional bytes in the size of a claim."""
    resources, found = spec.get("resources") or {}, []
    for member in ("requests", "limits"):
        here = f"{path}.resources.{member}"
        found += resource_names.warn_of_fractions(resources.get(member) or {}, here, names=("storage",))
    return found


def _warn_of_files(volume: Obj) -> list[str]:
    name, found = quote(volume.get("name", "")), []
    for what, files in _listed(volume):
        collisions = _collisions(_File(item.get("path", "")) for item in files)
        found += [f"volume {name} ({what}): overlapping paths: {one} with {other}" for one, other in collisions]
    projected = volume.get("projected")
    if projected is None:
        return found
    sources: Sequence[Obj] = projected.get("sources") or ()
    found += [f"volume {name} (Projected) has no sources provided" for source in sources if not source]
    collisions = _collisions(file for source in sources for file in _projected(source))
    return found + [f"volume {name} (Projected): overlapping paths: {one} with {other}" for one, other in collisions]


def _listed(volume: Obj) -> Iterator[tuple[str, Sequence[Obj]]]:
    """The `items` of each volume source that has such a list."""
    if (source := volume.get("configMap")) is not None:
        yield f"ConfigMap {quote(source.get('name', ''))}", source.get("items") or ()
    if (source := volume.get("secret")) is not None:
        yield f"Secret {quote(source.get('secretName', ''))}", source.get("items") or ()
    if (source := volume.get("downwardAPI")) is not None:
        yield "DownwardAPI", source.get("items") or ()


def _projected(source: Obj) -> Iterator[_File]:
    """The files of one source of a projected volume. The first source type with items counts."""
    for member, word in (("configMap", "ConfigMap "), ("secret", "Secret "), ("downwardAPI", "DownwardAPI")):
        one = source.get(member) or {}
        if one.get("items"):
            shown = word if member == "downwardAPI" else word + quote(one.get("name", ""))
            yield from (_File(item.get("path", ""), shown) for item in one["items"])
            return
    if source.get("serviceAccountToken") is not None:
        yield _File(source["serviceAccountToken"].get("path", ""), "ServiceAccountToken")


def _collisions(files: Iterator[_File]) -> Iterator[tuple[_File, _File]]:
    """Each file with the earlier files at its path, above it or below it."""
    before: list[_File] = []
    for file in islice(files, _MOST_COMPARED):
        one = _File(file.path.rstrip("/"), file.source)
        if one.path:
            yield from ((one, other) for other in before if _overlap(one.path, other.path))
            before.append(one)


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")

"""Volume index: the PersistentVolumes by the claim that they name, and the free ones by storage class.

It knows no waiting and no writes. Must hold: a volume is in one of the two maps of volumes.
"""

from collections.abc import Iterable, Iterator

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.volumes import volume_matching as volumes
from aio_apiserver.registry.groups.core.volumes.volume_classes import class_of


class VolumeIndex:
    """The volumes of the cluster, as a binder looks them up."""

    def __init__(self) -> None:
        self._reserved: dict[str, dict[str, Object]] = {}
        """The volumes by the key of their claim."""
        self._free: dict[str, dict[str, Object]] = {}
        """The volumes that name no claim, by storage class."""
        self._waiting: dict[str, set[str]] = {}
        """The keys of claims without a volume, by storage class."""

    def change(self, key: str, before: Object | None, after: Object | None) -> None:
        """Note a change of a volume."""
        if before is not None:
            self._place(before).pop(key, None)
        if after is not None:
            self._place(after)[key] = after

    def _place(self, volume: Object) -> dict[str, Object]:
        claim = volumes.claim_key(volume)
        if claim:
            return self._reserved.setdefault(claim, {})
        return self._free.setdefault(class_of(volume), {})

    def candidates(self, claim: Object) -> Iterator[Object]:
        """The volumes that a claim may get."""
        metadata = claim["metadata"]
        yield from self.reserved_for(f"{metadata['namespace']}/{metadata['name']}")
        yield from self._free.get(class_of(claim), {}).values()

    def reserved_for(self, claim: str) -> Iterable[Object]:
        """The volumes that name a claim, by the key of the claim."""
        return list(self._reserved.get(claim, {}).values())

    def wait(self, claim: str, storage_class: str) -> None:
        """Remember a claim without a volume."""
        self._waiting.setdefault(storage_class, set()).add(claim)

    def waiting(self, storage_class: str) -> Iterable[str]:
        """The claims of a class that wait, which wait no longer."""
        return self._waiting.pop(storage_class, ())

    def forget(self, claim: str, storage_class: str) -> None:
        """The claim is gone or has its volume."""
        self._waiting.get(storage_class, set()).discard(claim)

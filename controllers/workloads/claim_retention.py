"""Claim retention: the owner of a StatefulSet pod's PersistentVolumeClaims, by persistentVolumeClaimRetentionPolicy.

Pure. Must hold: a claim of another controller gets no owner here. A claim stays as it is while it names a set or a pod
whose name now belongs to another object.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import controller_reference
from aio_apiserver.controllers.workloads.stateful_set_pods import ordinal, ordinals, parent
from aio_apiserver.registry.base import objects

_SAME = ("apiVersion", "kind", "name")
_DELETE = "Delete"


def _references(claim: Object) -> Sequence[Object]:
    return claim["metadata"].get("ownerReferences") or ()


def _names(reference: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two references name the same object, perhaps with different uids."""
    return all(reference.get(part) == other[part] for part in _SAME)


def set_key_of(claim: Object) -> str:
    """The key of the set that owns a claim, or whose pod does; empty without one."""
    for one in _references(claim):
        name = {"StatefulSet": one["name"], "Pod": parent(one["name"])}.get(one["kind"], "")
        if name:
            return f"{claim['metadata']['namespace']}/{name}"
    return ""


class ClaimRetention(Struct, frozen=True):
    """A set and one of its pods. A pod that is yet to be made has no uid."""

    owner: Object
    pod: Object

    @property
    def of_set(self) -> Object:
        return controller_reference(self.owner, "apps/v1", "StatefulSet")

    @property
    def of_pod(self) -> Object:
        return controller_reference({"metadata": {"uid": "", **self.pod["metadata"]}}, "v1", "Pod")

    @property
    def _when_deleted(self) -> bool:
        return self._policy("whenDeleted")

    @property
    def _when_scaled(self) -> bool:
        return self._policy("whenScaled")

    def _policy(self, event: str) -> bool:
        return bool(objects.get(self.owner, f"spec.persistentVolumeClaimRetentionPolicy.{event}", "") == _DELETE)

    def owners(self) -> list[Object]:
        """The references of a claim: to a pod that is scaled away, or to the set, or none."""
        if self._when_scaled and ordinal(self.pod) not in ordinals(self.owner):
            return [self.of_pod]
        return [self.of_set] if self._when_deleted else []

    def is_stale(self, claim: Object) -> bool:
        """Whether the claim goes with an earlier pod of this name, so that the new pod has to wait."""
        return self._when_scaled and self._is_replaced(claim, self.of_pod)

    def is_conflicting(self, claim: Object) -> bool:
        """Whether another controller manages a claim that the policy may delete."""
        return (self._when_scaled or self._when_deleted) and any(map(self._is_foreign, _references(claim)))

    def is_up_to_date(self, claim: Object) -> bool:
        """Whether the claim has the wanted owner, or has to stay as it is."""
        if self._is_replaced(claim, self.of_set) or self._is_replaced(claim, self.of_pod):
            return True
        uids = {self.of_set["uid"], self.of_pod["uid"]}
        own = [one for one in _references(claim) if one["uid"] in uids]
        if self.is_conflicting(claim):
            return not own
        wanted = {one["uid"] for one in self.owners()}
        return all(one.get("controller") for one in own) and {one["uid"] for one in own} == wanted

    def apply(self, claim: Object) -> bool:
        """Give the claim its owner. Returns whether it changed."""
        if self.is_up_to_date(claim):
            return False
        wanted = [] if self.is_conflicting(claim) else self.owners()
        claim["metadata"]["ownerReferences"] = [*(one for one in _references(claim) if not self._own(one)), *wanted]
        return True

    def _own(self, reference: Object) -> Object | None:
        """The present reference to the set or the pod that this one names."""
        return next((one for one in (self.of_set, self.of_pod) if _names(reference, one)), None)

    def _is_foreign(self, reference: Object) -> bool:
        own = self._own(reference)
        return bool(reference.get("controller")) if own is None else bool(reference["uid"] != own["uid"])

    def _is_replaced(self, claim: Object, reference: Object) -> bool:
        found = next((one for one in _references(claim) if _names(one, reference)), reference)
        return bool(found["uid"] != reference["uid"])

"""Namespace conditions: the conditions of a terminating namespace: failures, remaining objects and finalizers.

Pure.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object

_FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


class Remains(Struct):
    """The remaining objects of a namespace. `resources`: by `plural.group`.

    `undiscovered`: the versions of aggregated servers that do not answer, and so may have objects.
    """

    resources: Counter[str] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    undiscovered: Sequence[str] = ()

    def count(self, resource: str, objects: Sequence[Object]) -> None:
        """Add the remaining objects of a resource."""
        if objects:
            self.resources[resource] += len(objects)
        for obj in objects:
            self.finalizers.update(obj["metadata"].get("finalizers") or ())

    @property
    def is_empty(self) -> bool:
        """Whether no object remains in the resources that were discovered."""
        return not self.resources and not self.failures

    def _troubles(self) -> dict[str, tuple[str, str]]:
        """The reasons and messages of conditions that are not fine."""
        troubles = {}
        if self.undiscovered:
            stale = ", ".join(f"{one}: stale GroupVersion discovery: {one}" for one in sorted(self.undiscovered))
            text = f"unable to retrieve the complete list of server APIs: {stale}"
            text = f"Discovery failed for some groups, {len(self.undiscovered)} failing: {text}"
            troubles["NamespaceDeletionDiscoveryFailure"] = ("DiscoveryFailed", text)
        if self.failures:
            text = f"Failed to delete all resource types, {len(self.failures)} remaining: {', '.join(self.failures)}"
            troubles["NamespaceDeletionContentFailure"] = ("ContentDeletionFailed", text)
        if self.resources:
            result = (f"{name} has {number} resource instances" for name, number in sorted(self.resources.items()))
            text = f"Some resources are remaining: {', '.join(result)}"
            troubles["NamespaceContentRemaining"] = ("SomeResourcesRemain", text)
        if self.finalizers:
            result = (f"{name} in {number} resource instances" for name, number in sorted(self.finalizers.items()))
            text = f"Some content in the namespace has finalizers remaining: {', '.join(result)}"
            troubles["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", text)
        return troubles

    def conditions(self, present: Sequence[Mapping[str, Any]], *, now: str) -> list[Object]:
        """The conditions of the namespace. Conditions of other types stay."""
        troubles = self._troubles()
        before = {one["type"]: one for one in present}
        result = [one for one in present if one["type"] not in _FINE]
        for kind, fine in _FINE.items():
            status = "True" if kind in troubles else "False"
            reason, message = troubles.get(kind, fine)
            old = before.get(kind, {})
            since = old["lastTransitionTime"] if old.get("status") == status else now
            result.append(
                {"type": kind, "status": status, "lastTransitionTime": since, "reason": reason, "message": message}
            )
        return [dict(one) for one in result]

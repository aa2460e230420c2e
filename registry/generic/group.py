"""group: the facts of an API group for discovery and APIServices: its name, versions and priorities.

A group's provider.py declares one beside its kinds. Must hold: a version of a kind is a version of its group.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.registry.base import timeline
from aio_apiserver.registry.base.timeline import Before, Version


def _stable() -> Mapping[str, int]:
    return {"v1": 15}


class APIGroup(Struct, frozen=True, kw_only=True):
    """An API group. The higher a priority, the earlier discovery lists the group or the version.

    `priority` is groupPriorityMinimum of its APIServices; a group without one has no APIServices. `versions` are in
    order of preference, each with its versionPriority. A beta version is served when --runtime-config says so.
    """

    name: str
    priority: int = 0
    versions: Mapping[str, int] = field(default_factory=_stable)
    since: Version = timeline.ALWAYS
    """The first minor that has the group."""
    history: Sequence[Before] = ()
    """What was different before some minors."""

    def at(self, version: Version) -> "APIGroup":
        """The group as a minor has it."""
        return replace(self, **timeline.differences(self.history, version), history=())

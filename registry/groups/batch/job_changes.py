"""Job changes: the change that a status update makes to a Job: both states, and which fields differ. Pure."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base.conditions import is_true

Job = Mapping[str, Any]

_PLAIN = ("active", "completedIndexes")
"""The fields in which empty equals missing."""


class JobState(Struct, frozen=True, dict=True):
    """One state of a Job, with its conditions."""

    job: Job

    @cached_property
    def status(self) -> Job:
        return self.job.get("status") or {}

    def get(self, name: str) -> Any:
        return self.status.get(name)

    def count(self, name: str) -> int:
        return self.status.get(name) or 0

    @cached_property
    def is_complete(self) -> bool:
        return is_true(self.status, "Complete")

    @cached_property
    def is_failed(self) -> bool:
        return is_true(self.status, "Failed")

    @cached_property
    def is_to_fail(self) -> bool:
        return is_true(self.status, "FailureTarget")

    @cached_property
    def meets_criteria(self) -> bool:
        return is_true(self.status, "SuccessCriteriaMet")

    @property
    def is_finished(self) -> bool:
        return self.is_complete or self.is_failed

    @property
    def uncounted(self) -> int:
        pods = self.get("uncountedTerminatedPods") or {}
        return len(pods.get("succeeded") or ()) + len(pods.get("failed") or ())


class JobChange(Struct, frozen=True):
    """The new state of a Job and the one that it replaces."""

    new: JobState
    old: JobState

    @property
    def spec(self) -> Job:
        spec: Job = self.new.job["spec"]
        return spec

    def has_new(self, *names: str) -> bool:
        """Whether one of these status fields, or one of these properties, has changed."""
        return any(self._has_new(name) for name in names)

    def _has_new(self, name: str) -> bool:
        if name.startswith(("is_", "meets_")):
            return bool(getattr(self.new, name) != getattr(self.old, name))
        if name in _PLAIN:
            return bool((self.new.get(name) or None) != (self.old.get(name) or None))
        return bool(self.new.get(name) != self.old.get(name))

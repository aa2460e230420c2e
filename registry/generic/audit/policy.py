"""Policy: the audit level of a request, by the first rule that matches it.

Pure. Must hold: a rule matches if all of its fields match. Without a matching rule, a request is not recorded.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct, field

from aio_apiserver.registry.generic.access.authorizer import Attributes
from aio_apiserver.registry.generic.audit.levels import Level, Stage

_NOWHERE: frozenset[Stage] = frozenset()


class Recording(NamedTuple):
    """The level and the content of a request's events."""

    level: Level
    omitted_stages: frozenset[Stage] = _NOWHERE
    omits_managed_fields: bool = False


class GroupResources(Struct, frozen=True):
    """Resources of a group: `pods`, `pods/log`, `pods/*`, `*/scale`, `*`; an empty list means all of them."""

    group: str
    resources: Sequence[str] = ()
    names: frozenset[str] = frozenset()

    def fit(self, attributes: Attributes) -> bool:
        if self.group not in ("*", attributes.group):
            return False
        if not self.resources:
            return True
        if self.names and attributes.name not in self.names:
            return False
        return any(_is_covered(resource, attributes) for resource in self.resources)


def _is_covered(written: str, attributes: Attributes) -> bool:
    whole = f"{attributes.resource}/{attributes.subresource}" if attributes.subresource else attributes.resource
    if written in ("*", whole):
        return True
    if attributes.subresource and written == f"*/{attributes.subresource}":
        return True
    return written.endswith("/*") and written.removesuffix("/*") == attributes.resource


class Rule(Struct, frozen=True, kw_only=True):
    """An empty field matches everything. `namespaces`: cluster-scoped objects are in the one with the empty name."""

    recording: Recording
    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    resources: Sequence[GroupResources] = ()
    paths: Sequence[str] = ()

    def fits(self, attributes: Attributes) -> bool:
        if self.users and attributes.user.name not in self.users:
            return False
        if self.groups and self.groups.isdisjoint(attributes.user.groups):
            return False
        if self.verbs and attributes.verb not in self.verbs:
            return False
        if self.namespaces or self.resources:
            return attributes.is_resource and self._fits_resource(attributes)
        if self.paths:
            return not attributes.is_resource and any(_covers(path, attributes.path) for path in self.paths)
        return True

    def _fits_resource(self, attributes: Attributes) -> bool:
        if self.namespaces and attributes.namespace not in self.namespaces:
            return False
        return not self.resources or any(resources.fit(attributes) for resources in self.resources)


def _covers(written: str, path: str) -> bool:
    if written in ("*", path):
        return True
    return written.endswith("*") and path.startswith(written.rstrip("*"))


class Policy(Struct, frozen=True):
    """Rules in their order, and the recording without a matching rule."""

    rules: Sequence[Rule]
    otherwise: Recording = field(default=Recording(Level.NONE))

    def recording_of(self, attributes: Attributes) -> Recording:
        """The recording of a request."""
        for rule in self.rules:
            if rule.fits(attributes):
                return rule.recording
        return self.otherwise

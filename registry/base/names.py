"""Names of resources and kinds, as messages write them.

>>> str(GroupResource("apps", "deployments")), str(GroupResource("", "pods"))
('deployments.apps', 'pods')
"""

from msgspec import Struct


class GroupResource(Struct, frozen=True):
    """A resource (plural, lower case) of a group; the core group is empty."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


class GroupKind(Struct, frozen=True):
    """A kind of a group; the core group is empty."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class GroupVersionKind(Struct, frozen=True):
    """A kind in a version of its group."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """The apiVersion of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"

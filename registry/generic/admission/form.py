"""form: the contract of the versions in which admission may see the objects of a resource.

A webhook or a policy names versions in its rules and sees objects in the one that it named.
"""

from typing import Protocol

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind


class AdmissionForm(Protocol):
    """One resource in one version."""

    @property
    def resource(self) -> GroupResource: ...

    @property
    def version(self) -> str: ...

    @property
    def kind(self) -> GroupVersionKind: ...

    def has(self, subresource: str) -> bool:
        """Whether this version has a subresource."""
        ...

    async def versioned(self, hub: Object) -> Object:
        """A hub object in this form. Raises StorageError when it cannot be converted."""
        ...

    def parsed(self, value: Object) -> Object:
        """A shown object after a webhook or policy has changed it, without defaults. Raises DecodeError."""
        ...

    def defaulted(self, obj: Object) -> Object:
        """A parsed object with its defaults, as it is shown."""
        ...

    async def hub(self, obj: Object) -> Object:
        """The hub object of one in this form. Raises DecodeError, StorageError."""
        ...

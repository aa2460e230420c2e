"""Refusals: the Forbidden error of an admission plugin, also for an object that has no name yet."""

from collections.abc import Sequence

from aio_apiserver.registry.base.errors import Cause, Forbidden
from aio_apiserver.registry.generic.admission.interface import Attributes


def forbidden(attributes: Attributes, why: str, *, causes: Sequence[Cause] = ()) -> Forbidden:
    """A Forbidden for a write."""
    metadata = attributes.obj.get("metadata", {}) if attributes.obj else {}
    name = attributes.name or metadata.get("name") or metadata.get("generateName") or "Unknown"
    return Forbidden(attributes.resource, name, why=why, causes=causes)

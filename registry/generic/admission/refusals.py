"""How plugins refuse: Forbidden, about the object as it is known before it has its name."""

from collections.abc import Sequence

from aio_apiserver.registry.base.errors import Cause, Forbidden
from aio_apiserver.registry.generic.admission.interface import Attributes


def forbidden(attributes: Attributes, why: str, *, causes: Sequence[Cause] = ()) -> Forbidden:
    """The refusal of a write."""
    metadata = attributes.obj.get("metadata", {}) if attributes.obj else {}
    name = attributes.name or metadata.get("name") or metadata.get("generateName") or "Unknown"
    return Forbidden(attributes.resource, name, why=why, causes=causes)

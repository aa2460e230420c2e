"""Resets: upstream's reset fields: fields that a write on a path cannot change, so that its writer does not own them.

An update of the main resource does not change the status; an update of /status does not change the spec. Pure.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from aio_apiserver.registry.machinery.patch.apply import elements, fields
from aio_apiserver.registry.machinery.patch.apply.fields import Fields


def _all(found: Fields) -> Fields:
    return found


class Resets(Struct, frozen=True):
    """`kept` removes the reset fields from a set."""

    kept: Callable[[Fields], Fields] = _all


NO_RESETS = Resets()


def resets(
    subresource: str, *, has_status: bool, is_custom: bool = False, own: Mapping[str, Sequence[str]] | None = None
) -> Resets:
    """The reset fields for writes of a kind on a path. `own` has the kind's exceptions by subresource."""
    paths = (own or {}).get(subresource)
    if paths is None:
        paths = _usual(subresource, has_status=has_status, is_custom=is_custom)
    reset = fields.of_paths(tuple(map(elements.field, path.split("."))) for path in paths)
    return Resets(lambda found: fields.outside(found, reset)) if reset else NO_RESETS


WITH_METADATA = ("metadata", "spec")
"""What a writer of /status cannot set of a kind that keeps the metadata, too."""


def _usual(subresource: str, *, has_status: bool, is_custom: bool) -> Sequence[str]:
    if not subresource:
        return ("status",) if has_status else ()
    if subresource != "status":
        return ()
    return WITH_METADATA if is_custom else ("spec",)

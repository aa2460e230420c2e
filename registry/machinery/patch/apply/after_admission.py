"""After admission: repairs metadata.managedFields after mutating admission. Pure."""

from collections.abc import Callable, Sequence
from typing import Any

from aio_apiserver.registry.machinery.patch.apply import fields, managed_fields
from aio_apiserver.registry.machinery.patch.apply.managed_fields import Entry

_BROKEN = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests: {why}"
)


def settle_managed_fields(
    metadata: dict[str, Any], before: Sequence[Entry] | None, warn: Callable[[str], None]
) -> None:
    """Keep the managedFields of admission in canonical form if they are valid; otherwise restore the previous ones."""
    after = metadata.get("managedFields")
    if not after or after is before:
        return
    try:
        managed_fields.read(after)
        metadata["managedFields"] = [
            {**entry, "fieldsV1": fields.decoded(entry.get("fieldsV1") or {})} for entry in after
        ]
    except ValueError as exc:
        warn(_BROKEN.format(why=exc))
        metadata["managedFields"] = before
        if before is None:
            del metadata["managedFields"]

"""Managed fields after mutating admission, which may have changed or broken them. Pure."""

from collections.abc import Callable, Sequence
from typing import Any

from aio_apiserver.registry.machinery.patch.apply import fields, managed
from aio_apiserver.registry.machinery.patch.apply.managed import Entry

_BROKEN = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests: {why}"
)


def settle_managed_fields(
    metadata: dict[str, Any], before: Sequence[Entry] | None, warn: Callable[[str], None]
) -> None:
    """Keep what admission says of owners if it can be read, in its one form; else what was said before."""
    after = metadata.get("managedFields")
    if not after or after is before:
        return
    try:
        managed.read(after)
        metadata["managedFields"] = [
            {**entry, "fieldsV1": fields.decoded(entry.get("fieldsV1") or {})} for entry in after
        ]
    except ValueError as exc:
        warn(_BROKEN.format(why=exc))
        metadata["managedFields"] = before
        if before is None:
            del metadata["managedFields"]

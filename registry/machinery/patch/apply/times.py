"""Times: compares managedFields without their times. Pure."""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.registry.machinery.patch.apply.managed_fields import Entry


def differ_only_in_time(new: Sequence[Entry], old: Sequence[Entry]) -> bool:
    """Whether the entries differ in their times alone."""
    if len(new) != len(old) or new == old:
        return False
    return all(_timeless(one) == _timeless(other) for one, other in zip(new, old, strict=True))


def _timeless(entry: Entry) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "time"}

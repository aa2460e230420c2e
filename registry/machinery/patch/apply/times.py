"""Times: managed fields that differ only in when, and admission that breaks them. Pure."""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.registry.machinery.patch.apply.managed import Entry


def differ_only_in_time(new: Sequence[Entry], old: Sequence[Entry]) -> bool:
    """Whether entries say the same but for their times, which do differ."""
    if len(new) != len(old) or new == old:
        return False
    return all(_timeless(one) == _timeless(other) for one, other in zip(new, old, strict=True))


def _timeless(entry: Entry) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "time"}

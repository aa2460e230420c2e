"""Tolerations: whether one toleration covers another, and merging of lists. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Toleration = Mapping[str, Any]

_NO_EXECUTE = "NoExecute"


def merge(first: Iterable[Toleration], second: Iterable[Toleration]) -> list[Toleration]:
    """Both lists, without tolerations that another one covers. The first of equal ones stays."""
    every = [*first, *second]
    merged: list[Toleration] = []
    for index, toleration in enumerate(every):
        is_covered = any(covers(other, toleration) for other in merged) or any(
            other != toleration and covers(other, toleration) for other in every[index + 1 :]
        )
        if not is_covered:
            merged.append(toleration)
    return merged


def all_covered(tolerations: Sequence[Toleration], allowed: Sequence[Toleration]) -> bool:
    """Whether each toleration is covered by an allowed one. An empty list allows all."""
    return not allowed or all(any(covers(one, toleration) for one in allowed) for toleration in tolerations)


def covers(wide: Toleration, narrow: Toleration) -> bool:
    """Whether `wide` tolerates at least all that `narrow` does."""
    if wide == narrow:
        return True
    operator = wide.get("operator", "")
    is_any_key = not wide.get("key") and operator == "Exists"
    if narrow.get("key", "") != wide.get("key", "") and not is_any_key:
        return False
    if wide.get("effect") and narrow.get("effect", "") != wide["effect"]:
        return False
    if wide.get("effect") == _NO_EXECUTE and not _lasts(wide, narrow):
        return False
    if operator in {"", "Equal"}:
        return narrow.get("operator") == "Equal" and narrow.get("value", "") == wide.get("value", "")
    return bool(operator == "Exists")


def _lasts(wide: Toleration, narrow: Toleration) -> bool:
    """Whether `wide` lasts as long as `narrow`. Without tolerationSeconds it lasts for ever."""
    longest, wanted = wide.get("tolerationSeconds"), narrow.get("tolerationSeconds")
    return longest is None or (wanted is not None and wanted <= longest)

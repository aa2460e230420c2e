"""The conditions of a job's status. Pure."""

from collections.abc import Mapping
from typing import Any


def is_true(status: Mapping[str, Any], kind: str) -> bool:
    return _has(status, kind, "True")


def is_false(status: Mapping[str, Any], kind: str) -> bool:
    """Whether it is said to be false; what is not said is neither true nor false."""
    return _has(status, kind, "False")


def _has(status: Mapping[str, Any], kind: str, value: str) -> bool:
    return any(one.get("type") == kind and one.get("status") == value for one in status.get("conditions") or ())

"""Conditions of pods as the server itself sets them. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base import conditions
from aio_apiserver.storage.stored_object import Object


def put(status: Object, condition: Mapping[str, Any], *, now: str) -> None:
    """Add a condition, or put it in the place of the one of its type; the time of the transition stays if none is."""
    conditions.put(status, condition, now=now)


def is_ready(pod: Object) -> bool:
    """Whether the pod says that it can do its work."""
    return conditions.is_true(pod.get("status") or {}, "Ready")

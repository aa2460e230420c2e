"""Pod conditions: the conditions of pods that the server itself sets or reads. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import conditions


def put(status: Object, condition: Mapping[str, Any], *, now: str) -> None:
    """Set a condition of the pod. lastTransitionTime stays when the status of the condition does not change."""
    conditions.put(status, condition, now=now)


def is_ready(pod: Object) -> bool:
    """Whether the condition Ready is true."""
    return conditions.is_true(pod.get("status") or {}, "Ready")

"""usage: the CPU and memory that the containers of a simulated cluster use. Pure.

The annotation `usage` of a pod states amounts, of which each container has an equal part. Without it, a container uses
half of its requests. Must hold: CPU is in nanocores and memory in whole bytes, as metrics-server measures them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import NANO, Quantity, QuantityFormat
from aio_apiserver.registry.plugins.simulation import annotations

CPU, MEMORY = "cpu", "memory"
RESOURCES = (CPU, MEMORY)
_UNIT = 10**9
_SHARE = 2
"""A container without the annotation uses one part of so many of its requests."""
_WITHOUT_REQUESTS: Mapping[str, int] = {
    CPU: quantity.parse("10m").nanos,
    MEMORY: quantity.parse("16Mi").nanos,
}

Usage = Mapping[str, int]
"""Amounts by resource, in billionths of its unit."""


def of_pod(pod: Object) -> Sequence[tuple[str, Usage]]:
    """The names of a pod's running containers, and the usage of each."""
    containers = list(_running(pod["spec"]))
    stated = annotations.amounts((pod["metadata"].get("annotations") or {}).get(annotations.USAGE, ""))
    parts = {name: quantity.parse_cached(text).nanos // len(containers) for name, text in stated.items()}
    return [(one["name"], {**_usual(one), **parts}) for one in containers]


def total(usages: Iterable[Usage]) -> Usage:
    """The sum of some usages."""
    found = dict.fromkeys(RESOURCES, 0)
    for usage in usages:
        for name in RESOURCES:
            found[name] += usage[name]
    return found


def read(amounts: Mapping[str, str]) -> Usage:
    """The usage that an object shows."""
    return {name: quantity.parse_cached(text).nanos for name, text in amounts.items()}


def printed(usage: Usage) -> Mapping[str, str]:
    """A usage as objects show it: `{"cpu": "250m", "memory": "64Mi"}`."""
    return {
        CPU: str(Quantity(usage[CPU], NANO, QuantityFormat.DECIMAL)),
        MEMORY: str(Quantity(usage[MEMORY] // _UNIT, 0, QuantityFormat.BINARY)),
    }


def _running(spec: Object) -> Iterator[Mapping[str, Any]]:
    """The containers that run together: the ordinary ones, and init containers that restart (sidecars)."""
    yield from spec["containers"]
    yield from (one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always")


def _usual(container: Mapping[str, Any]) -> Usage:
    requests = (container.get("resources") or {}).get("requests") or {}
    return {
        name: quantity.parse_cached(requests[name]).nanos // _SHARE if name in requests else _WITHOUT_REQUESTS[name]
        for name in RESOURCES
    }

"""Simulated sizes: whether a pod is small enough for the simulation, which looks at it again and again.

Pure. Kubernetes has no such limits. Must hold: a look costs no more than the limits.
"""

from typing import Any

from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.base.unstructured import Object

_MOST = BudgetLimits(steps=20_000, bytes_made=512 * 1024)
"""The values of a pod, and the characters of its texts."""
_STEPS_OF_A_CONTAINER = 80
"""So that a pod has at most 250 containers."""
_MEMBERS = ("initContainers", "containers", "ephemeralContainers")


def check(pod: Object) -> None:
    """Raises BudgetExceeded for a pod that the simulation leaves out."""
    budget = Budget(_MOST)
    containers = sum(len(pod["spec"].get(member) or ()) for member in _MEMBERS)
    budget.spend(containers * _STEPS_OF_A_CONTAINER)
    metadata = {name: value for name, value in pod["metadata"].items() if name != "managedFields"}
    waiting: list[Any] = [{**pod, "metadata": metadata}]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            budget.spend(len(value))
            waiting.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, str):
            budget.make(len(value))

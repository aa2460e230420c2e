"""Evaluators: the interface of quota evaluators, which compute what an object of one resource uses.

Every resource has a count (`count/deployments.apps`). Pods, services and claims have further evaluators. Pure.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import amounts
from aio_apiserver.registry.base.amounts import Amounts
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation

Scope = Mapping[str, Any]
"""A scope selector requirement of a quota: scopeName, operator, values."""


class Evaluator(Protocol):
    """The quota rules of one resource."""

    def handles(self, attributes: Attributes) -> bool:
        """Whether a write can change the usage."""
        ...

    def names(self, limited: Iterable[str]) -> list[str]:
        """The limited resources that objects of this kind use."""
        ...

    def is_in_scope(self, scope: Scope, obj: Object) -> bool:
        """Whether the scope matches an object."""
        ...

    def missing(self, required: Collection[str], obj: Object) -> str:
        """Which of the required resources the object does not specify, as a message; empty when none is missing."""
        ...

    def usage(self, obj: Object, *, now: float) -> Amounts:
        """The usage of an object."""
        ...


def count_name(resource: GroupResource) -> str:
    """The name of the count of a resource."""
    return f"count/{resource}"


def is_selected(scope: Scope, values: Collection[str]) -> bool:
    """Whether an object with these values meets a scope. Most scopes give one value or none."""
    wanted = scope.get("values") or ()
    match scope.get("operator"):
        case "Exists":
            return bool(values)
        case "DoesNotExist":
            return not values
        case "In":
            return any(value in wanted for value in values)
        case "NotIn":
            return not values or any(value not in wanted for value in values)
        case _:
            return False


class Unscoped:
    """The parts of evaluators without scopes and required members."""

    __slots__ = ()

    def is_in_scope(self, scope: Scope, obj: Object) -> bool:
        return False

    def missing(self, required: Collection[str], obj: Object) -> str:
        return ""


class ObjectCounts(Struct, Unscoped, frozen=True):
    """The evaluator of a resource that is counted and uses nothing else. `counted_as`: the names of the count."""

    counted_as: tuple[str, ...]

    def handles(self, attributes: Attributes) -> bool:
        return attributes.operation is Operation.CREATE and not attributes.subresource

    def names(self, limited: Iterable[str]) -> list[str]:
        return [name for name in limited if name in self.counted_as]

    def usage(self, obj: Object, *, now: float) -> Amounts:
        return dict.fromkeys(self.counted_as, amounts.ONE)

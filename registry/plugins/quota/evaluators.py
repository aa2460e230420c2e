"""Evaluators: what one object of a resource uses, and which quotas look at it.

Every resource is counted (`count/deployments.apps`); pods, services and claims use more than a count. Pure.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from aio_apiserver.registry.base import amounts
from aio_apiserver.registry.base.amounts import Amounts
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.storage.stored_object import Object

Scope = Mapping[str, Any]
"""One demand of a quota on the objects that it looks at: scopeName, operator, values."""


class Evaluator(Protocol):
    """What quotas have to know of one resource."""

    def handles(self, attributes: Attributes) -> bool:
        """Whether a write can change what is used."""
        ...

    def names(self, limited: Iterable[str]) -> list[str]:
        """Those of the limited resources that objects of this kind use."""
        ...

    def is_in_scope(self, scope: Scope, obj: Object) -> bool:
        """Whether a quota with this scope looks at an object."""
        ...

    def missing(self, required: Collection[str], obj: Object) -> str:
        """What an object has to say where these resources are limited, and does not; empty when nothing is missing."""
        ...

    def usage(self, obj: Object, *, now: float) -> Amounts:
        """What an object uses."""
        ...


def count_name(resource: GroupResource) -> str:
    """The name under which the objects of a resource are counted."""
    return f"count/{resource}"


def is_selected(scope: Scope, values: Collection[str]) -> bool:
    """Whether an object that names these values (none, or one and more) meets the demand of a scope."""
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
    """What most evaluators say: no scope selects among the objects, and nothing has to be said."""

    __slots__ = ()

    def is_in_scope(self, scope: Scope, obj: Object) -> bool:
        return False

    def missing(self, required: Collection[str], obj: Object) -> str:
        return ""


class ObjectCounts(Struct, Unscoped, frozen=True):
    """Objects that are only counted, under one name or two."""

    counted_as: tuple[str, ...]

    def handles(self, attributes: Attributes) -> bool:
        return attributes.operation is Operation.CREATE and not attributes.subresource

    def names(self, limited: Iterable[str]) -> list[str]:
        return [name for name in limited if name in self.counted_as]

    def usage(self, obj: Object, *, now: float) -> Amounts:
        return dict.fromkeys(self.counted_as, amounts.ONE)

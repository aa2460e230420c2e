"""Reviews: resources without stored objects, such as SubjectAccessReview: a create is answered at once.

Must hold: a review passes admission like every write, and is not stored.
"""

from collections.abc import Awaitable, Callable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic import preparation, url_names
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.admission_attributes import attributes_of
from aio_apiserver.registry.generic.field_managers import field_managers
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Environment, Request
from aio_apiserver.registry.machinery.view import typed

Check = Callable[[Request, Object], None]
"""Refuses a malformed review with a StatusError."""
Answer = Callable[[Request, Object], Awaitable[Object]]
"""Returns the answer, without its type. It may be the review itself with a status."""


def _nothing(_request: Request, _obj: Object) -> None:
    """Accepts every review."""


def review(group: str, plural: str, kind: str, *, is_namespaced: bool = False) -> Kind:
    """The facts of a kind of reviews."""
    return Kind(group=group, plural=plural, kind=kind, is_namespaced=is_namespaced, verbs=("create",))


class ReviewREST:
    """One kind of reviews."""

    def __init__(self, kind: Kind, environment: Environment, answer: Answer, check: Check = _nothing) -> None:
        self.kind = kind
        self._admission = environment.admission
        self._types = environment.types
        self._managers = field_managers(kind, environment.types, environment.clock)
        self._check = check
        self._answer = answer

    def object_kind(self, version: str) -> GroupVersionKind:
        return self.kind.object_kind(version)

    async def create(self, request: Request, obj: Object, options: CreateOptions, *, name: str = "") -> Object:
        url_names.settle_namespace(obj, request, self.kind)
        preparation.wipe_system_fields(obj["metadata"])
        self._managers.of(request.version).track(None, obj, options.field_manager or request.manager, request.empties)
        attributes = attributes_of(
            request,
            Operation.CREATE,
            options,
            resource=self.kind.resource,
            kind=self.object_kind(request.version),
            name=obj["metadata"].get("name", ""),
            obj=obj,
        )
        await self._admission.mutate(attributes)
        self._check(request, obj)
        await self._admission.validate(attributes)
        answer = await self._answer(request, obj)
        kind = self.object_kind(request.version)
        return self._types.type_for(kind.group, kind.version, kind.kind).canonical(typed(kind, answer))

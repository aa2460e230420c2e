"""Admin access: claims may have admin access to devices in namespaces with the label
resource.kubernetes.io/admin-access.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.hooks import Hooks
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment, Request
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.groups.resource import status_rights

_LABEL = "resource.kubernetes.io/admin-access"
_RESULTS = "status.allocation.devices.results"
_REFUSED = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"

Asks = Callable[[Object], str]
"""The path at which an object requests admin access; empty when it does not."""


def claim_hooks(environment: Environment) -> Hooks:
    """The hooks for the Store of ResourceClaims: requests of new claims, and changes of the status."""
    check_access = _check(environment, lambda claim: _request_path(claim, "spec.devices.requests"))

    async def check(request: Request, subresource: str, obj: Object, old: Object | None) -> Sequence[FieldError]:
        found = await check_access(request, subresource, obj, old)
        if subresource != "status" or old is None:
            return found
        return [*found, *await status_rights.check(environment.authorizer, request, obj, old)]

    return Hooks(check=check)


def template_hooks(environment: Environment) -> Hooks:
    """The hooks for the Store of ResourceClaimTemplates."""
    return Hooks(check=_check(environment, lambda template: _request_path(template, "spec.spec.devices.requests")))


def _check(
    environment: Environment, asks: Asks
) -> Callable[[Request, str, Object, Object | None], Awaitable[Sequence[FieldError]]]:
    namespaces = Lookup(environment.storage_for(resource_of(NAMESPACES)), NAMESPACES.resource, _allows_access)

    async def check(request: Request, subresource: str, obj: Object, old: Object | None) -> Sequence[FieldError]:
        if subresource == "status":
            path = "" if old is not None and _result_path(old) else _result_path(obj)
        else:
            path = asks(obj) if old is None else ""
        return await _refusal(namespaces, request.namespace, path) if path else ()

    return check


def _request_path(obj: Object, path: str) -> str:
    exactly = ((one.get("exactly") or {}).get("adminAccess") for one in objects.get(obj, path) or ())
    return next((f"spec.devices.requests[{index}].adminAccess" for index in _indexes(exactly)), "")


def _result_path(obj: Object) -> str:
    results = (one.get("adminAccess") for one in objects.get(obj, _RESULTS) or ())
    return next((f"{_RESULTS}[{index}].adminAccess" for index in _indexes(results)), "")


def _indexes(flags: Iterable[bool | None]) -> list[int]:
    return [index for index, flag in enumerate(flags) if flag]


def _allows_access(namespace: Object) -> bool:
    return (namespace["metadata"].get("labels") or {}).get(_LABEL) == "true"


async def _refusal(namespaces: Lookup[bool], name: str, path: str) -> Sequence[FieldError]:
    try:
        is_allowed = await namespaces.newest(name)
    except errors.NotFound as exc:
        return [field.internal(path, f"could not retrieve namespace to verify admin access: {exc.message}")]
    return [] if is_allowed else [field.forbidden(path, _REFUSED)]

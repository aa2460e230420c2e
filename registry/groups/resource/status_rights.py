"""Status rights: the additional authorization for the status of ResourceClaims.

A change of allocation or reservedFor needs the right to `resourceclaims/binding`. A change of device status needs the
right to `resourceclaims/driver` for each driver. A service account on the node of the allocation may have it for this
node alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.access import refusals
from aio_apiserver.registry.generic.access.authorizer import Attributes, Authorizer
from aio_apiserver.registry.generic.access.users import UserInfo, split_service_account
from aio_apiserver.registry.generic.rest import Request

_NODE_NAME = "authentication.kubernetes.io/node-name"
_ASSOCIATED, _ARBITRARY = "associated-node:", "arbitrary-node:"
_BOUND = ("allocation", "reservedFor")


async def check(authorizer: Authorizer, request: Request, new: Object, old: Object) -> Sequence[FieldError]:
    """The errors for parts that the user may not change."""
    status, before = (one.get("status") or {} for one in (new, old))
    errors = await _check_binding(authorizer, request, status, before)
    if status.get("allocation") is None:
        return errors
    verbs = _driver_verbs(request, status["allocation"])
    for driver in sorted(_changed_drivers(status, before)):
        refusal = await _refusal(authorizer, _attributes(request, verbs[0], "driver", driver=driver))
        others = [await _refusal(authorizer, _attributes(request, verb, "driver", driver=driver)) for verb in verbs[1:]]
        if refusal and all(others):
            what = f'resource="resourceclaims/driver", verb="[{" ".join(verbs)}]" permission'
            errors.append(field.forbidden("status.devices", f"changing status.devices requires {what}: {refusal}"))
    return errors


async def _check_binding(
    authorizer: Authorizer, request: Request, status: Mapping[str, Any], before: Mapping[str, Any]
) -> list[FieldError]:
    if all((status.get(name) or None) == (before.get(name) or None) for name in _BOUND):
        return []
    refusal = await _refusal(authorizer, _attributes(request, request.verb, "binding"))
    if not refusal:
        return []
    what = f'resource="resourceclaims/binding", verb="{request.verb}" permission'
    why = f"changing status.allocation or status.reservedFor requires {what}: {refusal}"
    return [field.forbidden("status.allocation", why)]


def _attributes(request: Request, verb: str, subresource: str, *, driver: str = "") -> Attributes:
    return Attributes(
        user=request.user,
        verb=verb,
        group="resource.k8s.io",
        version=request.version,
        resource="resourceclaims",
        subresource=subresource,
        namespace=request.namespace if driver else "",
        name=driver,
    )


async def _refusal(authorizer: Authorizer, attributes: Attributes) -> str:
    """The reason why the user may not do this; empty when the user may."""
    decision = await authorizer.authorize(attributes)
    if decision.is_allowed:
        return ""
    reason = ": ".join(one for one in (decision.error, decision.reason) if one)
    return refusals.forbidden(attributes, reason).message


def _driver_verbs(request: Request, allocation: Mapping[str, Any]) -> Sequence[str]:
    is_near = _is_on_node(request.user, _node_of(allocation))
    return [f"{prefix}{request.verb}" for prefix in ((_ASSOCIATED, _ARBITRARY) if is_near else (_ARBITRARY,))]


def _is_on_node(user: UserInfo, node: str) -> bool:
    nodes = user.extra.get(_NODE_NAME, ())
    return bool(node) and split_service_account(user.name) is not None and list(nodes) == [node]


def _node_of(allocation: Mapping[str, Any]) -> str:
    """The node of an allocation; empty when it is not for exactly one node."""
    match (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms"):
        case [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [str(node)]}], **rest}]:
            return "" if rest.get("matchExpressions") else node
        case _:
            return ""


def _changed_drivers(status: Mapping[str, Any], before: Mapping[str, Any]) -> set[str]:
    """The drivers whose device status has changed."""
    new, old = _by_device(status), _by_device(before)
    return {key[0] for key in {*new, *old} if new.get(key) != old.get(key)}


def _by_device(status: Mapping[str, Any]) -> Mapping[tuple[str, ...], Any]:
    names = ("driver", "pool", "device", "shareID")
    return {tuple(one.get(name) or "" for name in names): one for one in status.get("devices") or ()}

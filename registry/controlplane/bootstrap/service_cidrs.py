"""service_cidrs: creates the ServiceCIDR `kubernetes` of the --service-cluster-ip-range."""

from collections.abc import Sequence
from functools import partial

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.conditions import find
from aio_apiserver.registry.controlplane.bootstrap import status_conditions
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.networking.servicecidrs import SERVICECIDRS

_PLACE = ResourcePath(SERVICECIDRS.group, "v1", SERVICECIDRS.plural)
_STATUS = _PLACE._replace(path="servicecidrs/status")
_NAME = "kubernetes"
_READY = "Ready"
_MANAGER = "kubernetes-service-cidr-controller"


async def ensure(client: OwnClient, clock: Clock, cidrs: Sequence[str]) -> None:
    """Create it, add a second address family, and set the Ready condition when its ranges are those of the flags."""
    await client.create_missing(_PLACE, {"metadata": {"name": _NAME}, "spec": {"cidrs": list(cidrs)}})
    await client.change(_PLACE, _NAME, partial(_widen, cidrs=list(cidrs)))
    ready = partial(_ready, cidrs=list(cidrs), now=clock.now())
    await client.apply_status(_STATUS, _NAME, ready, manager=_MANAGER)


def _widen(obj: Object, *, cidrs: list[str]) -> bool:
    """Add a second range to the first; returns whether the object has changed."""
    if len(cidrs) != 2 or obj["spec"].get("cidrs") != cidrs[:1]:
        return False
    obj["spec"]["cidrs"] = cidrs
    return True


def _ready(obj: Object, *, cidrs: list[str], now: float) -> Object | None:
    """The status with Ready, unless the ServiceCIDR has that condition or is being deleted."""
    if obj["metadata"].get("deletionTimestamp") or obj["spec"].get("cidrs") != cidrs:
        return None
    present = find(obj.get("status") or {}, _READY) or {}
    if present.get("status") in ("True", "False"):
        return None
    message = "Kubernetes default Service CIDR is ready"
    return status_conditions.wanted_status(obj, {"type": _READY, "status": "True", "message": message}, now=now)

"""The ServiceCIDR of the server's own range of service addresses."""

from collections.abc import Sequence
from functools import partial

from registry.bootstrap import conditions
from registry.bootstrap.own_client import OwnClient, Place
from registry.conditions import find
from storage.clock import Clock
from storage.stored_object import Object

_PLACE = Place("networking.k8s.io", "v1", "servicecidrs")
_STATUS = _PLACE._replace(path="servicecidrs/status")
_NAME = "kubernetes"
_READY = "Ready"


async def ensure(client: OwnClient, clock: Clock, cidrs: Sequence[str]) -> None:
    """Make it, add a second family to it, and call it ready when it is what the flags say."""
    await client.create_missing(_PLACE, {"metadata": {"name": _NAME}, "spec": {"cidrs": list(cidrs)}})
    await client.change(_PLACE, _NAME, partial(_widen, cidrs=list(cidrs)))
    await client.change(_STATUS, _NAME, partial(_call_ready, cidrs=list(cidrs), now=clock.now()))


def _widen(obj: Object, *, cidrs: list[str]) -> bool:
    """From one family to two."""
    if len(cidrs) != 2 or obj["spec"].get("cidrs") != cidrs[:1]:
        return False
    obj["spec"]["cidrs"] = cidrs
    return True


def _call_ready(obj: Object, *, cidrs: list[str], now: float) -> bool:
    if obj["metadata"].get("deletionTimestamp") or obj["spec"].get("cidrs") != cidrs:
        return False
    present = find(obj.get("status") or {}, _READY) or {}
    if present.get("status") in ("True", "False"):
        return False
    message = "Kubernetes default Service CIDR is ready"
    return conditions.settle(obj, {"type": _READY, "status": "True", "reason": "", "message": message}, now=now)

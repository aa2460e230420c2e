"""Outer addresses: gives services of type LoadBalancer and ingresses their addresses, as a cloud provider does.

The queue keys begin with the kind. Must hold: an address that is given stays. Two services have different ones. No
packet reaches them.
"""

from collections.abc import Container, Sequence
from ipaddress import ip_address

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.resources import INGRESSES, SERVICES
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.simulation.model.annotations import PREFIX, duration

_SERVICE, _INGRESS = "service ", "ingress "


class OuterAddresses(Controller):
    """The load balancers and the ingress controller of a simulated cluster."""

    name = "simulated-outer-addresses"
    component = "service-controller"
    workers = 1

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._taken: set[str] = set()
        self._since: dict[str, float] = {}
        """When an object without addresses was first seen, by uid."""

    def begin(self) -> None:
        self.act_as("system:cloud-controller-manager", manager="cloud-controller-manager")
        self._services = self.follow(SERVICES, lambda service: _SERVICE + key_of(service))
        self._services.listen(self._changed)
        self._ingresses = self.follow(INGRESSES, lambda ingress: _INGRESS + key_of(ingress))

    def _changed(self, _key: str, before: Object | None, after: Object | None) -> None:
        if before is not None:
            self._taken.difference_update(ips_of(before))
        if after is not None:
            self._taken.update(ips_of(after))

    async def reconcile(self, key: str) -> float | None:
        if key.startswith(_INGRESS):
            ingress = self._ingresses.get(key.removeprefix(_INGRESS))
            return await self._give(INGRESSES, ingress) if ingress is not None else None
        service = self._services.get(key.removeprefix(_SERVICE))
        if service is None or not is_balanced(service):
            return None
        return await self._give(SERVICES, service)

    async def _give(self, place: ResourcePath, obj: Object) -> float | None:
        """Give an object its addresses, when its delay has passed."""
        delay = delay_of(obj)
        uid, now = obj["metadata"]["uid"], self.desk.clock.monotonic()
        if delay is None or ips_of(obj) or obj["metadata"].get("deletionTimestamp"):
            self._since.pop(uid, None)
            return None
        left = self._since.setdefault(uid, now) + delay - now
        if left > 0:
            return left
        is_service = place == SERVICES
        given = for_service(obj, self._taken) if is_service else for_ingress()

        def give(present: Object) -> None:
            present["status"] = {**(present.get("status") or {}), "loadBalancer": {"ingress": given}}

        changed = await self.client.change(place.part("status"), obj, give)
        self._since.pop(uid, None)
        if is_service and changed is not None:
            self._taken.update(ips_of(changed))
            about = events.reference(obj, "v1", "Service")
            self.recorder.say(about, "EnsuredLoadBalancer", "Ensured load balancer")
        return None


_FIRST = {"IPv4": ip_address("172.31.0.2"), "IPv6": ip_address("fd00:31::2")}
_OF_INGRESSES = "172.31.0.1"
_PENDING = "Pending"


def delay_of(obj: Object) -> float | None:
    """The seconds until a service or an ingress gets its addresses; None for one that waits for ever."""
    annotations = obj["metadata"].get("annotations") or {}
    is_pending = annotations.get(f"{PREFIX}phase") == _PENDING
    return None if is_pending else duration(annotations.get(f"{PREFIX}delay", ""))


def is_balanced(service: Object) -> bool:
    """Whether the simulation gives a service addresses. Services of a class belong to another controller."""
    spec = service["spec"]
    return spec.get("type") == "LoadBalancer" and not spec.get("loadBalancerClass")


def ips_of(obj: Object) -> list[str]:
    """The addresses in the status of a service or an ingress."""
    given = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return [str(one["ip"]) for one in given if one.get("ip")]


def for_service(service: Object, taken: Container[str]) -> list[Object]:
    """One address for each family of a service."""
    spec = service["spec"]
    if spec.get("loadBalancerIP"):
        return [{"ip": spec["loadBalancerIP"], "ipMode": "VIP"}]
    families: Sequence[str] = spec.get("ipFamilies") or ("IPv4",)
    return [{"ip": _free(family, taken), "ipMode": "VIP"} for family in families]


def _free(family: str, taken: Container[str]) -> str:
    address = _FIRST[family]
    while str(address) in taken:
        address += 1
    return str(address)


def for_ingress() -> list[Object]:
    """All ingresses share one address."""
    return [{"ip": _OF_INGRESSES}]

"""Address pools: the addresses of load balancers and ingresses of a simulated cluster.

Pure. No packet reaches them.
"""

from collections.abc import Container, Sequence
from ipaddress import ip_address

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.model.annotations import PREFIX, duration

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

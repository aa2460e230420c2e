"""Service read defaults: completes services that were stored before their fields had defaults, for reads and watches.

This is kube-apiserver's defaultOnRead. Pure: it changes the service in place. Must hold: a service with all fields
stays unchanged, at the cost of a few lookups.
"""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.core.services.parts import service_changes, service_types
from aio_apiserver.registry.groups.core.services.parts.service_types import (
    IPV4,
    IPV6,
    NONE,
    REQUIRE_DUAL_STACK,
    SINGLE_STACK,
)

_PRIMARY, _OTHER = IPV4, IPV6
"""The families of headless services, which have no addresses to derive them from."""


def complete(service: Object) -> None:
    """Fill in the addresses, families and policies that follow from the other fields of a stored service.

    kube-apiserver stores the internal traffic policy of an external name, and does not show it.
    """
    spec = service.get("spec")
    if not spec:
        return
    if not service_types.needs_cluster_ip(spec):
        spec.pop("internalTrafficPolicy", None)
        return
    service_changes.settle_cluster_ips(spec)
    spec.setdefault("internalTrafficPolicy", "Cluster")
    if not spec.get("ipFamilies"):
        _settle_families(spec)


def _settle_families(spec: dict[str, Any]) -> None:
    if spec.get("clusterIP") != NONE:
        families = list(dict.fromkeys(map(_family_of, service_types.cluster_ips(spec))))
    elif spec.get("selector"):
        families = [_PRIMARY]
    else:  # others say where it leads, to any family
        families = [_PRIMARY, _OTHER]
    if families:
        spec["ipFamilies"] = families
        spec["ipFamilyPolicy"] = SINGLE_STACK if len(families) == 1 else REQUIRE_DUAL_STACK


def _family_of(address: str) -> str:
    return IPV6 if ":" in address else IPV4

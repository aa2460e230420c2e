"""Devices: the devices of all ResourceSlices, and which of them a node can use.

Pure. A pool counts with the slices of its newest generation, and when all of them are there.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.node_placement import covers, meets_terms
from aio_apiserver.registry.groups.resource import device_expressions


class DeviceKey(NamedTuple):
    """The identity of a device."""

    driver: str
    pool: str
    name: str


class DeviceView(NamedTuple):
    """A device. `place`: the object that names its nodes, the slice or the device itself."""

    key: DeviceKey
    device: Mapping[str, Any]
    place: Mapping[str, Any]

    def is_on(self, node: Object) -> bool:
        """Whether a node can use the device."""
        place = self.place
        if place.get("nodeName"):
            return bool(place["nodeName"] == node["metadata"]["name"])
        if place.get("nodeSelector"):
            return meets_terms(place["nodeSelector"]["nodeSelectorTerms"], node)
        return bool(place.get("allNodes"))

    def attribute(self, name: str) -> Any:
        """An attribute by its full name; None without it."""
        attributes = self.device.get("attributes") or {}
        domain, _, identifier = name.rpartition("/")
        own = attributes.get(identifier) if domain in ("", self.key.driver) else None
        return attributes.get(name, own)

    def is_tolerated(self, tolerations: Iterable[Mapping[str, Any]]) -> bool:
        """Whether tolerations cover all taints that keep claims away."""
        taints = [one for one in self.device.get("taints") or () if one.get("effect") in ("NoSchedule", "NoExecute")]
        return all(any(covers(one, taint) for one in tolerations) for taint in taints)

    def is_selected(self, selectors: Iterable[Mapping[str, Any]]) -> bool:
        """Whether all selectors select the device."""
        expressions = (one["cel"]["expression"] for one in selectors if one.get("cel"))
        return all(device_expressions.selects(one, self.key.driver, self.device) for one in expressions)


def devices_of(slices: Iterable[Object]) -> Sequence[DeviceView]:
    """The devices of the complete pools. Devices that share counters are left out."""
    pools: dict[tuple[str, str], list[Object]] = {}
    for one in slices:
        spec = one["spec"]
        pools.setdefault((spec["driver"], spec["pool"]["name"]), []).append(spec)
    found = []
    for (driver, pool), specs in sorted(pools.items(), key=lambda item: item[0]):
        newest = max(int(one["pool"].get("generation") or 0) for one in specs)
        current = [one for one in specs if int(one["pool"].get("generation") or 0) == newest]
        if len(current) >= int(current[0]["pool"]["resourceSliceCount"]):
            found += [
                DeviceView(
                    DeviceKey(driver, pool, device["name"]),
                    device,
                    device if spec.get("perDeviceNodeSelection") else spec,
                )
                for spec in current
                for device in spec.get("devices") or ()
                if not device.get("consumesCounters")
            ]
    return found

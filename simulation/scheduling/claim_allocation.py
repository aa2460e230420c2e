"""Claim allocation: chooses devices for resource claims on a node, by their structured parameters.

Pure. It searches with backtracking, the requests in their order, and gives up after a number of steps.

Must hold: a device is allocated once, unless for admin access. Every constraint of a claim is met.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.node_placement import meets_terms
from aio_apiserver.simulation.scheduling.devices import DeviceKey, DeviceView

MOST_STEPS = 20_000
_MOST_DEVICES = 32
ClassAt = Callable[[str], Object | None]


class DeviceRequest(NamedTuple):
    """One way to satisfy a request. `name`: as results show it, `request` or `request/subrequest`."""

    name: str
    given: Mapping[str, Any]

    @property
    def main(self) -> str:
        return self.name.partition("/")[0]

    @property
    def is_admin(self) -> bool:
        return bool(self.given.get("adminAccess"))


class Chosen(NamedTuple):
    """A device for a request."""

    request: DeviceRequest
    device: DeviceView


def alternatives(request: Mapping[str, Any]) -> Sequence[DeviceRequest]:
    """The ways to satisfy a request, the best one first."""
    if request.get("exactly"):
        return [DeviceRequest(request["name"], request["exactly"])]
    return [DeviceRequest(f"{request['name']}/{one['name']}", one) for one in request.get("firstAvailable") or ()]


def missing_class(claim: Object, class_at: ClassAt) -> str:
    """The message about a device class that does not exist; empty when all exist."""
    for request in _requests(claim):
        for one in alternatives(request):
            if class_at(one.given["deviceClassName"]) is None:
                return f"request {one.name}: device class {one.given['deviceClassName']} does not exist"
    return ""


def _requests(claim: Object) -> Sequence[Mapping[str, Any]]:
    return (claim["spec"].get("devices") or {}).get("requests") or ()


def is_available(claim: Object, node: Object) -> bool:
    """Whether the devices of an allocated claim are on a node."""
    selector = claim["status"]["allocation"].get("nodeSelector")
    return selector is None or meets_terms(selector["nodeSelectorTerms"], node)


def allocated(claim: Object) -> list[DeviceKey]:
    """The devices that a claim holds for itself."""
    results = (((claim.get("status") or {}).get("allocation") or {}).get("devices") or {}).get("results") or ()
    return [DeviceKey(one["driver"], one["pool"], one["device"]) for one in results if not one.get("adminAccess")]


class Allocator(Struct):
    """One attempt on one node."""

    node: Object
    devices: Sequence[DeviceView]
    used: Collection[DeviceKey]
    class_at: ClassAt
    steps: int = 0
    taken: set[DeviceKey] = field(default_factory=set)

    def allocate(self, claims: Sequence[Object]) -> list[Object] | None:
        """An allocation for each claim; None when there is no way."""
        self.devices = [one for one in self.devices if one.is_on(self.node)]
        found: list[list[Chosen]] = []
        return self._claims(claims, found)

    def _claims(self, claims: Sequence[Object], found: list[list[Chosen]]) -> list[Object] | None:
        if len(found) == len(claims):
            return [self._result(claim, chosen) for claim, chosen in zip(claims, found, strict=True)]
        claim = claims[len(found)]
        for chosen in self._ways(claim, _requests(claim), []):
            result = self._claims(claims, [*found, chosen])
            if result is not None:
                return result
        return None

    def _ways(
        self, claim: Object, requests: Sequence[Mapping[str, Any]], chosen: list[Chosen]
    ) -> Iterator[list[Chosen]]:
        """All choices for the rest of the requests of a claim."""
        if not requests:
            yield chosen
            return
        for one in alternatives(requests[0]):
            for more in self._devices_for(claim, one, chosen):
                yield from self._ways(claim, requests[1:], [*chosen, *more])

    def _devices_for(self, claim: Object, request: DeviceRequest, before: list[Chosen]) -> Iterator[list[Chosen]]:
        fitting = [one for one in self.devices if self._fits(request, one)]
        if request.given.get("allocationMode") == "All":
            every = [Chosen(request, one) for one in fitting]
            is_free = request.is_admin or not any(one.key in self.used or one.key in self.taken for one in fitting)
            if every and is_free and self._meets(claim, [*before, *every]):
                yield from self._hold(request, every)
            return
        count = int(request.given.get("count") or 1)
        yield from self._combinations(claim, request, fitting, count, before, [])

    def _combinations(
        self,
        claim: Object,
        request: DeviceRequest,
        fitting: Sequence[DeviceView],
        count: int,
        before: list[Chosen],
        chosen: list[Chosen],
    ) -> Iterator[list[Chosen]]:
        if not count:
            yield chosen
            return
        for place, device in enumerate(fitting):
            self.steps += 1
            if self.steps > MOST_STEPS:
                return
            one = Chosen(request, device)
            if not self._is_free(request, device) or not self._meets(claim, [*before, *chosen, one]):
                continue
            for _ in self._hold(request, [one]):
                rest = fitting[place + 1 :]
                yield from self._combinations(claim, request, rest, count - 1, before, [*chosen, one])

    def _is_free(self, request: DeviceRequest, device: DeviceView) -> bool:
        return request.is_admin or (device.key not in self.used and device.key not in self.taken)

    def _hold(self, request: DeviceRequest, chosen: list[Chosen]) -> Iterator[list[Chosen]]:
        """Hold devices while the caller goes on with the search."""
        keys = {one.device.key for one in chosen} if not request.is_admin else set()
        self.taken |= keys
        yield chosen
        self.taken -= keys

    def _fits(self, request: DeviceRequest, device: DeviceView) -> bool:
        class_ = self.class_at(request.given["deviceClassName"])
        if class_ is None or not device.is_tolerated(request.given.get("tolerations") or ()):
            return False
        return device.is_selected(class_["spec"].get("selectors") or ()) and device.is_selected(
            request.given.get("selectors") or ()
        )

    def _meets(self, claim: Object, chosen: Sequence[Chosen]) -> bool:
        """Whether devices meet the constraints of their claim so far."""
        if len(chosen) > _MOST_DEVICES:
            return False
        return all(_is_met(one, chosen) for one in claim["spec"]["devices"].get("constraints") or ())

    def _result(self, claim: Object, chosen: Sequence[Chosen]) -> Object:
        results = [
            {
                "request": one.request.name,
                "driver": one.device.key.driver,
                "pool": one.device.key.pool,
                "device": one.device.key.name,
                **({"adminAccess": True} if one.request.is_admin else {}),
            }
            for one in chosen
        ]
        devices: Object = {"results": results}
        if config := self._config(claim, chosen):
            devices["config"] = config
        allocation: Object = {"devices": devices}
        if selector := self._selector([one.device for one in chosen]):
            allocation["nodeSelector"] = selector
        return allocation

    def _config(self, claim: Object, chosen: Sequence[Chosen]) -> list[Object]:
        """The configuration of the classes, then that of the claim, for requests that have devices."""
        names = {part for one in chosen for part in (one.request.name, one.request.main)}
        of_claim = (
            {"source": "FromClaim", **one}
            for one in claim["spec"]["devices"].get("config") or ()
            if not one.get("requests") or names.intersection(one["requests"])
        )
        return [*self._config_of_classes(chosen), *of_claim]

    def _config_of_classes(self, chosen: Sequence[Chosen]) -> Iterator[Object]:
        for request in dict.fromkeys(one.request.name for one in chosen):
            given = next(one.request.given for one in chosen if one.request.name == request)
            class_ = self.class_at(given["deviceClassName"]) or {"spec": {}}
            for one in class_["spec"].get("config") or ():
                yield {"source": "FromClass", "requests": [request], **one}

    def _selector(self, devices: Sequence[DeviceView]) -> Object | None:
        """The nodes that can use the devices; None for all."""
        if any(one.place.get("nodeName") for one in devices):
            name = self.node["metadata"]["name"]
            term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
            return {"nodeSelectorTerms": [term]}
        selectors = [one.place["nodeSelector"] for one in devices if one.place.get("nodeSelector")]
        if not selectors:
            return None
        merged: Object = {}
        for selector in selectors:
            for name, expressions in selector["nodeSelectorTerms"][0].items():
                kept = merged.setdefault(name, [])
                kept += [one for one in expressions if one not in kept]
        return {"nodeSelectorTerms": [merged]}


def _is_met(constraint: Mapping[str, Any], chosen: Sequence[Chosen]) -> bool:
    names = constraint.get("requests") or ()
    concerned = [one.device for one in chosen if not names or {one.request.name, one.request.main} & set(names)]
    if attribute := constraint.get("matchAttribute"):
        values = [one.attribute(attribute) for one in concerned]
        return all(one is not None and one == values[0] for one in values)
    if attribute := constraint.get("distinctAttribute"):
        shown = [str(one.attribute(attribute)) for one in concerned if one.attribute(attribute) is not None]
        return len(shown) == len(concerned) == len(set(shown))
    return True

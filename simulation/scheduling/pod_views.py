"""Pod views: the facts of a pod that scheduling needs, read once.

Pure. Amounts are whole numbers of nanos, so that adding them is cheap.
"""

from collections.abc import Mapping

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.core.pods.parts.pod_resources import aggregate
from aio_apiserver.simulation.scheduling.terms import PodTerms, terms_of

Nanos = Mapping[str, int]
_LEAST_SCORED = {"cpu": 100_000_000, "memory": 200 * 1024 * 1024 * 10**9}
"""The amounts that scores count for a pod that requests nothing: 100m and 200Mi."""
Port = tuple[str, str, int]
"""Address, protocol and number of a port of the host."""
_EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - it is compared with, and not bound to


class PodView(Struct, frozen=True, eq=False):
    """A pod."""

    key: str
    obj: Object
    namespace: str
    labels: Mapping[str, str]
    priority: int
    requests: Nanos
    scored: Nanos
    """The CPU and memory that scores count."""
    ports: frozenset[Port]
    terms: PodTerms
    is_ending: bool

    @property
    def uid(self) -> str:
        return str(self.obj["metadata"]["uid"])

    @property
    def nominated_node(self) -> str:
        return str((self.obj.get("status") or {}).get("nominatedNodeName") or "")


def view_of(pod: Object) -> PodView:
    """The view of a pod."""
    metadata, spec = pod["metadata"], pod["spec"]
    requests = _requests(spec)
    return PodView(
        f"{metadata['namespace']}/{metadata['name']}",
        pod,
        metadata["namespace"],
        metadata.get("labels") or {},
        int(spec.get("priority") or 0),
        requests,
        {name: requests.get(name, least) for name, least in _LEAST_SCORED.items()},
        frozenset(_ports(spec)),
        terms_of(pod),
        bool(metadata.get("deletionTimestamp")),
    )


def _requests(spec: Object) -> Nanos:
    """The requests of the pod itself win over the sums of its containers. Overhead is added."""
    found = {name: amount.nanos for name, amount in aggregate(spec, "requests").items()}
    if (spec.get("resources") or {}).get("requests"):
        own = aggregate({"containers": [{"resources": spec["resources"]}]}, "requests")
        found.update({name: amount.nanos for name, amount in own.items()})
    if spec.get("overhead"):
        added = aggregate({"containers": [{"resources": {"requests": spec["overhead"]}}]}, "requests")
        found.update({name: found.get(name, 0) + amount.nanos for name, amount in added.items()})
    return found


def _ports(spec: Object) -> list[Port]:
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    return [
        (one.get("hostIP") or _EVERY_ADDRESS, one.get("protocol", "TCP"), int(one["hostPort"]))
        for container in (*spec["containers"], *sidecars)
        for one in container.get("ports") or ()
        if one.get("hostPort")
    ]


def ports_clash(wanted: frozenset[Port], used: Mapping[Port, int]) -> bool:
    """Whether a port of the host is taken. An address of 0.0.0.0 takes the port at every address."""
    for address, protocol, number in wanted:
        for other, other_protocol, other_number in used:
            if (protocol, number) == (other_protocol, other_number) and (
                address == other or _EVERY_ADDRESS in (address, other)
            ):
                return True
    return False


def may_have_changed(before: Object, after: Object) -> bool:
    """Whether two states of a pod may have different views. Most changes concern the status alone."""
    was, now = before["metadata"], after["metadata"]
    return (
        was["uid"] != now["uid"]
        or before["spec"] != after["spec"]
        or was.get("labels") != now.get("labels")
        or was.get("deletionTimestamp") != now.get("deletionTimestamp")
        or _signs(before) != _signs(after)
    )


def _signs(pod: Object) -> tuple[object, object]:
    status = pod.get("status") or {}
    return status.get("nominatedNodeName"), status.get("phase") in ("Succeeded", "Failed")

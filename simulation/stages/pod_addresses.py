"""Pod addresses: the addresses that templates of Stages give to pods.

Must hold: a pod keeps its address; two living pods have different ones.
"""

from collections import Counter

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.model import node_objects


class PodAddresses:
    """The addresses by the uid of the pod."""

    def __init__(self) -> None:
        self._by_uid: dict[str, str] = {}
        self._taken: set[str] = set()
        self._given: Counter[str] = Counter()
        """The number of addresses that each node has assigned."""

    def of(self, uid: str, node: Object) -> str:
        """The address of a pod on a node."""
        if uid not in self._by_uid:
            name = node["metadata"]["name"]
            self._keep(uid, node_objects.free_address(node, self._taken, self._given[name]))
            self._given[name] += 1
        return self._by_uid[uid]

    def hear(self, before: Object | None, after: Object | None) -> None:
        """Take note of a pod that has changed."""
        if before is not None and (after is None or before["metadata"]["uid"] != after["metadata"]["uid"]):
            self._taken.discard(self._by_uid.pop(before["metadata"]["uid"], ""))
        if after is not None and (address := (after.get("status") or {}).get("podIP")):
            self._keep(after["metadata"]["uid"], address)

    def _keep(self, uid: str, address: str) -> None:
        self._by_uid[uid] = address
        self._taken.add(address)

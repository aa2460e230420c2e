"""Resource quotas: computes the used amounts of quotas, periodically and when objects were deleted or have finished.

Must hold: a count replaces no amounts that admission charged after the count began.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, if_same
from aio_apiserver.controllers.runtime.pods import is_active
from aio_apiserver.controllers.runtime.resources import PERSISTENT_VOLUME_CLAIMS, PODS, RESOURCE_QUOTAS, SERVICES
from aio_apiserver.registry.base import amounts
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.plugins.admission.namespaces.resource_quota import EVALUATORS
from aio_apiserver.registry.plugins.quota import charging
from aio_apiserver.registry.plugins.quota.evaluators import Evaluator, ObjectCounts, count_name

_INTERVAL_SECONDS = 300.0
_OF_PODS = ("containers", "initContainers", "activeDeadlineSeconds")
_STATUSES = ("containerStatuses", "initContainerStatuses")


class ResourceQuotaController(Controller):
    """Keeps `status.hard` and `status.used`."""

    name = "resourcequota-controller"

    def begin(self) -> None:
        self._quotas = self.follow(RESOURCE_QUOTAS)
        self._quotas.listen(self._quota_changed)
        self._watched: set[ResourcePath] = set()

    def _quota_changed(self, key: str, before: Object | None, after: Object | None) -> None:
        """Admission charges a quota before it stores an object. A count at that moment would miss the object."""
        if after is not None and (before is None or before["spec"] != after["spec"]):
            self.queue.add(key)

    def _watch(self, place: ResourcePath) -> None:
        """Follow a resource that a quota limits."""
        if place not in self._watched:
            self._watched.add(place)
            self.follow(place).listen(partial(self._changed, place))

    def _changed(self, place: ResourcePath, _key: str, before: Object | None, after: Object | None) -> None:
        """Admission charges new objects. This releases what deleted, finished and smaller objects used."""
        if before is not None and (after is None or _may_use_less(place, before, after)):
            for quota in self._quotas.in_namespace(before["metadata"]["namespace"]):
                self.queue.add(key_of(quota))

    async def reconcile(self, key: str) -> float | None:
        quota = self._quotas.get(key)
        if quota is None:
            return None
        hard: Mapping[str, str] = quota["spec"].get("hard") or {}
        used = dict.fromkeys(hard, amounts.ZERO)
        for place, evaluator in self._evaluators(hard):
            self._watch(place)
            for obj in await self.client.list(place, quota["metadata"]["namespace"]):
                if all(evaluator.is_in_scope(one, obj) for one in charging.scopes_of(quota)):
                    usage = evaluator.usage(obj, now=self.desk.clock.now())
                    used = amounts.added(used, {name: usage[name] for name in usage if name in hard})
        status = {"hard": dict(hard), "used": amounts.texts(used)}

        def tell(present: Object) -> None:
            present["status"] = status

        if quota.get("status") != status:
            # admission may have charged more objects since: then it counts again
            await self.client.change(RESOURCE_QUOTAS.part("status"), quota, if_same(quota, tell))
        return _INTERVAL_SECONDS

    def _evaluators(self, hard: Mapping[str, str]) -> Iterator[tuple[ResourcePath, Evaluator]]:
        """The resources that a quota limits."""
        for place in list(self.client.resources("list")):
            resource = GroupResource(place.group, place.path)
            evaluator = EVALUATORS.get(resource) or ObjectCounts((count_name(resource),))
            if self.client.at(place).kind.is_namespaced and evaluator.names(hard):
                yield place, evaluator


def _may_use_less(place: ResourcePath, before: Object, after: Object) -> bool:
    """Whether an updated object may use less of a quota."""
    if place == PODS:
        return not is_active(after) or _has_other_scope_or_size(before, after)
    if place == PERSISTENT_VOLUME_CLAIMS and _allocated(before) != _allocated(after):
        return True
    return place in (SERVICES, PERSISTENT_VOLUME_CLAIMS) and before["spec"] != after["spec"]


def _has_other_scope_or_size(before: Object, after: Object) -> bool:
    """Whether a pod has got a deadline, which is a scope of quotas, or containers of another size."""
    if any(before["spec"].get(member) != after["spec"].get(member) for member in _OF_PODS):
        return True
    old, new = _resources(before), _resources(after)
    return any(name in new and old[name] != new[name] for name in old)


def _resources(pod: Object) -> dict[str, Any]:
    """The resources that the containers of a pod have, by name."""
    status = pod.get("status") or {}
    every = (one for member in _STATUSES for one in status.get(member) or ())
    return {one["name"]: one.get("resources") for one in every}


def _allocated(claim: Object) -> Any:
    return (claim.get("status") or {}).get("allocatedResources")

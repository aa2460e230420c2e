"""Replica sets: keeps the number of pods of a ReplicaSet or ReplicationController."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.informers import controller_uid
from aio_apiserver.controllers.runtime.resources import REPLICA_SETS, REPLICATION_CONTROLLERS
from aio_apiserver.controllers.workloads import replicas
from aio_apiserver.controllers.workloads.pod_owners import PodOwner
from aio_apiserver.controllers.workloads.rollouts import replicas as wanted_of
from aio_apiserver.registry.base.errors import StatusError


class ReplicaSetController(PodOwner):
    """Keeps the number of pods."""

    name = "replicaset-controller"
    place = REPLICA_SETS
    kind = "ReplicaSet"

    async def reconcile(self, key: str) -> float | None:
        owner = self.owner(key)
        if owner is None:
            return None
        claimed = await self.claim(owner)
        active, ending = await self.work(partial(replicas.sort, claimed), len(claimed))
        failure = await self._settle(owner, active) if not podrules.is_ending(owner) else None
        now = self.desk.clock.now()
        status = await self.work(partial(replicas.status, owner, active, ending, now=now), len(active))
        replicas.report_failure(status, owner, len(active), str(failure or ""), now=self.desk.now())
        await self.report(owner, status)
        if failure is not None:
            raise failure
        is_waiting = status.get("readyReplicas", 0) != status.get("availableReplicas", 0)
        return float(owner["spec"].get("minReadySeconds") or 0) if is_waiting else None

    async def _settle(self, owner: Object, active: Sequence[Object]) -> StatusError | None:
        """Make missing pods or delete surplus ones. Returns the failure, if any."""
        missing = wanted_of(owner) - len(active)
        try:
            if missing > 0:
                template = owner["spec"]["template"]
                numbers = self.first(owner, range(missing))
                pods = [podrules.from_template(template, owner, self.api_version, self.kind) for _ in numbers]
                await self.make(owner, pods)
            elif missing < 0:
                gone = await self.work(partial(replicas.surplus, active, self._related(owner), -missing), len(active))
                await self.delete(owner, self.first(owner, gone))
        except StatusError as exc:
            return exc
        return None

    def _related(self, owner: Object) -> Sequence[Object]:
        """The pods of all owners under the same controller, such as the replica sets of one deployment."""
        namespace, controller = owner["metadata"]["namespace"], controller_uid(owner)
        owners = self.owners.controlled_by(namespace, controller) if controller else (owner,)
        return [pod for one in owners for pod in self.controlled(one)]


class ReplicationControllerController(ReplicaSetController):
    """The same for ReplicationController, whose selector is a plain map."""

    name = "replicationcontroller-controller"
    account = component = "replication-controller"
    place = REPLICATION_CONTROLLERS
    kind = "ReplicationController"

    def selector(self, owner: Object) -> Mapping[str, Any] | None:
        labels = owner["spec"].get("selector")
        return {"matchLabels": labels} if labels else None

"""Deployments: keeps one ReplicaSet for each template of a Deployment, and rolls out from one to the next."""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.informers import Informer
from aio_apiserver.controllers.runtime.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from aio_apiserver.controllers.workloads import rollouts
from aio_apiserver.controllers.workloads.pod_owners import PodOwner
from aio_apiserver.controllers.workloads.rollout_status import RolloutProgress
from aio_apiserver.registry.base import conditions, errors


class DeploymentController(PodOwner):
    """Rolls out, scales, keeps the history, and reports progress."""

    name = "deployment-controller"
    place = DEPLOYMENTS
    kind = "Deployment"
    dependents = REPLICA_SETS

    def begin(self) -> None:
        super().begin()
        self._pods: Informer = self.follow(PODS)
        self._pods.listen(self._pod_changed)

    def _pod_changed(self, _pod: str, before: Object | None, after: Object | None) -> None:
        """Reconcile a deployment that waits for the end of its old pods (Recreate)."""
        if before is None or (after is not None and not podrules.is_finished(after)):
            return
        reference, namespace = podrules.controller_of(before), before["metadata"]["namespace"]
        one = self._dependents.get(f"{namespace}/{reference.get('name')}")
        deployment = self.owner(self._owner_key(one)) if one is not None else None
        if deployment is not None and not rollouts.is_rolling(deployment):
            self.queue.add(_key(deployment))

    async def reconcile(self, key: str) -> float | None:
        deployment = self.owner(key)
        if deployment is None:
            return None
        sets = await self.claim(deployment)
        new = rollouts.find_new(deployment, sets)
        old = [one for one in sets if one is not new]
        if podrules.is_ending(deployment):
            await self._report(deployment, new, old, is_observing=False)
            return None
        is_paused = bool(deployment["spec"].get("paused"))
        if is_paused or rollouts.is_scaling(deployment, sets):
            if new is not None:
                new = await self._mark(deployment, new, old)
            await self._resize(deployment, sets, rollouts.rescale(deployment, new, old))
            await self._report(deployment, new, old, is_observing=not is_paused)
            return None
        return await self._roll_out(deployment, new, old)

    async def _roll_out(self, deployment: Object, new: Object | None, old: Sequence[Object]) -> float | None:
        if not rollouts.is_rolling(deployment) and await self._clear(deployment, old):
            return await self._report(deployment, new, old, is_observing=True)
        new = await self._make(deployment, old) if new is None else await self._mark(deployment, new, old)
        if new is None:
            return None
        present = await self._unchanged(deployment)
        if present is None:
            return None
        deployment = present
        sizes = rollouts.roll(deployment, new, old)
        await self._resize(deployment, [new, *old], sizes)
        progress = self._progress(deployment, new, old)
        if not sizes and progress.is_complete(deployment.get("status") or {}):
            for one in rollouts.superfluous(deployment, old):
                await self.client.delete(REPLICA_SETS, one)
        return await self._report(deployment, new, old, is_observing=True)

    async def _clear(self, deployment: Object, old: Sequence[Object]) -> bool:
        """Scale all old replica sets to zero before the new pods (Recreate). Returns whether old pods are left."""
        sizes = {one["metadata"]["name"]: 0 for one in old if rollouts.replicas(one)}
        await self._resize(deployment, old, sizes)
        namespace = deployment["metadata"]["namespace"]
        left = (pod for one in old for pod in self._pods.controlled_by(namespace, one["metadata"]["uid"]))
        return bool(sizes) or any(not podrules.is_finished(pod) for pod in left)

    async def _make(self, deployment: Object, old: Sequence[Object]) -> Object | None:
        wanted = rollouts.make_new(deployment, old)
        wanted["metadata"]["ownerReferences"] = [self.reference(deployment)]
        rollouts.mark_new(deployment, wanted, self._next_revision(old))
        rollouts.mark_sizes(deployment, wanted)
        name = wanted["metadata"]["name"]
        try:
            made = await self.client.create(REPLICA_SETS, wanted, namespace=deployment["metadata"]["namespace"])
        except errors.AlreadyExists:
            await self._tell(deployment, collision=True)
            raise
        except errors.StatusError as exc:
            failure = f'Failed to create new replica set "{name}": {exc}'
            await self._tell(deployment, failure=failure)
            self.say(deployment, "ReplicaSetCreateError", failure, is_warning=True)
            raise
        self._say_scaled(deployment, made, 0, rollouts.replicas(made))
        await self._tell(deployment, made=made)
        return made

    def _say_scaled(self, deployment: Object, one: Object, before: int, after: int) -> None:
        if before != after:
            way, name = "up" if before < after else "down", one["metadata"]["name"]
            text = f"Scaled {way} replica set {name} from {before} to {after}"
            self.say(deployment, "ScalingReplicaSet", text)

    async def _mark(self, deployment: Object, new: Object, old: Sequence[Object]) -> Object | None:
        """Update the revision and annotations of the present replica set, and the revision of the deployment."""
        number = self._next_revision(old)
        changed: Object | None = new
        if rollouts.mark_new(deployment, _light(new), number):
            changed = await self.client.change(
                REPLICA_SETS, new, lambda present: rollouts.mark_new(deployment, present, number)
            )
        if changed is not None:
            await self._tell(deployment, found=changed)
        return changed

    def _next_revision(self, old: Sequence[Object]) -> int:
        return 1 + max(map(rollouts.revision, old), default=0)

    async def _tell(
        self,
        deployment: Object,
        *,
        made: Object | None = None,
        found: Object | None = None,
        failure: str = "",
        collision: bool = False,
    ) -> None:
        """Report the new replica set in the status of the deployment."""
        now = self.desk.now()
        progress = self._progress(deployment, None, ())

        def tell(present: Object) -> bool:
            before = (dict(present["metadata"].get("annotations") or {}), present.get("status"))
            status = dict(present.get("status") or {})
            one = made or found
            if one is not None:
                present["metadata"].setdefault("annotations", {})[rollouts.REVISION] = str(rollouts.revision(one))
            if collision:
                status["collisionCount"] = int(status.get("collisionCount") or 0) + 1
            news = _news(made, found, failure)
            if news is not None and progress.deadline is not None:
                value, reason, text = news
                if found is None or conditions.find(status, "Progressing") is None:
                    conditions.report(
                        status, "Progressing", value, now=now, reason=reason, message=text, lastUpdateTime=now
                    )
            present["status"] = status
            return before != (present["metadata"].get("annotations") or {}, status)

        is_known = found is not None and rollouts.revision(deployment) == rollouts.revision(found)
        if not (is_known and conditions.find(deployment.get("status") or {}, "Progressing") is not None):
            await self.client.change(DEPLOYMENTS.part("status"), deployment, tell)

    async def _resize(self, deployment: Object, sets: Sequence[Object], sizes: rollouts.Sizes) -> None:
        for one in sets:
            size = sizes.get(one["metadata"]["name"], rollouts.replicas(one))

            def resize(present: Object, size: int = size) -> bool:
                before = (rollouts.replicas(present), dict(present["metadata"].get("annotations") or {}))
                rollouts.mark_sizes(deployment, present)
                present["spec"]["replicas"] = size
                return before != (size, present["metadata"]["annotations"])

            is_meant = size or one["metadata"]["name"] in sizes
            if is_meant and await self.client.change(REPLICA_SETS, one, resize) is not None:
                self._say_scaled(deployment, one, rollouts.replicas(one), size)

    def _progress(self, deployment: Object, new: Object | None, old: Sequence[Object]) -> RolloutProgress:
        return RolloutProgress(deployment, new, old, self.desk.clock.now(), self.desk.now())

    async def _unchanged(self, deployment: Object) -> Object | None:
        """The newest state of the deployment; None when its spec has changed, which the next sync will see.

        Otherwise the status would claim that the new spec was observed, with the replica sets of the old one.
        """
        present = await self.client.get(DEPLOYMENTS, _key(deployment))
        return present if present is not None and _generation(present) == _generation(deployment) else None

    async def _report(
        self, deployment: Object, new: Object | None, old: Sequence[Object], *, is_observing: bool
    ) -> float | None:
        present = await self._unchanged(deployment)
        if present is None:
            return None
        progress = self._progress(present, new, old)
        status = progress.status(is_observing=is_observing)
        await self.report(present, status)
        condition = conditions.find(status, "Progressing")
        if progress.deadline is None or condition is None or condition.get("reason") == "NewReplicaSetAvailable":
            return None
        return max(1.0, progress.seconds_left(condition) + 1) if condition["status"] == "True" else None


def _generation(obj: Object) -> int:
    generation: int = obj["metadata"].get("generation", 0)
    return generation


def _key(obj: Object) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def _light(one: Object) -> Object:
    """A copy of the parts of a replica set that `mark_new` changes."""
    annotations = dict(one["metadata"].get("annotations") or {})
    return {**one, "metadata": {**one["metadata"], "annotations": annotations}, "spec": dict(one["spec"])}


def _news(made: Object | None, found: Object | None, failure: str) -> tuple[str, str, str] | None:
    """The status, reason and message of the condition Progressing."""
    if made is not None:
        return "True", "NewReplicaSetCreated", f'Created new replica set "{made["metadata"]["name"]}"'
    if found is not None:
        return "True", "FoundNewReplicaSet", f'Found new replica set "{found["metadata"]["name"]}"'
    return ("False", "ReplicaSetCreateError", failure) if failure else None

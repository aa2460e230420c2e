"""Stateful sets: keeps the pods of a StatefulSet, which have stable names and volume claims."""

from aio_apiserver.controllers.decisions import pods as podrules
from aio_apiserver.controllers.decisions import stateful_sets as rules
from aio_apiserver.controllers.decisions.stateful_sets import StatefulSetSituation
from aio_apiserver.controllers.revision_keeper import RevisionKeeper
from aio_apiserver.controllers.runtime.places import PERSISTENT_VOLUME_CLAIMS, STATEFUL_SETS
from aio_apiserver.registry.base.errors import AlreadyExists, StatusError
from aio_apiserver.storage.stored_object import Object


class StatefulSetController(RevisionKeeper):
    """Makes, replaces and deletes pods in order."""

    name = "statefulset-controller"
    place = STATEFUL_SETS
    kind = "StatefulSet"

    async def reconcile(self, key: str) -> float | None:
        owner = self.owner(key)
        if owner is None:
            return None
        members = [pod for pod in await self.claim(owner) if rules.is_member(owner, pod)]
        update = await self.present_revision(owner)
        every = {one["metadata"]["name"]: one for one in [*self.revisions_of(owner), update]}
        before = (owner.get("status") or {}).get("currentRevision")
        current = every.get(before, update)
        names = current["metadata"]["name"], update["metadata"]["name"]
        situation = StatefulSetSituation(owner, members, *names, self.desk.clock.now())
        await self.report(owner, situation.status())
        if not podrules.is_ending(owner):
            await self._carry_out(owner, situation.plan(), every)
        live = {*names, *map(rules.revision_of, members)}
        await self.forget_old(owner, live)
        waits = any(podrules.ready_since(pod) is not None and not situation.is_available(pod) for pod in members)
        return float(owner["spec"].get("minReadySeconds") or 0) if waits else None

    async def _carry_out(self, owner: Object, plan: rules.StatefulSetPlan, revisions: dict[str, Object]) -> None:
        for number, revision in plan.make.items():
            pod = rules.pod_of(owner, number, revisions[revision])
            for claim in rules.claims(owner, number).values():
                await self._ensure_claim(owner, pod, claim)
            await self.make(owner, [pod])
        await self.delete(owner, plan.delete)

    async def _ensure_claim(self, owner: Object, pod: Object, claim: Object) -> None:
        namespace = owner["metadata"]["namespace"]
        subject = f"Pod {pod['metadata']['name']} in StatefulSet {owner['metadata']['name']}"
        name = claim["metadata"]["name"]
        try:
            await self.client.create(PERSISTENT_VOLUME_CLAIMS, claim, namespace=namespace)
        except AlreadyExists:
            return
        except StatusError as exc:
            text = f"Create Claim {name} for {subject} failed error: {exc}"
            self.say(owner, "FailedCreate", text, is_warning=True)
            raise
        self.say(owner, "SuccessfulCreate", f"Create Claim {name} {subject} success")

    def event_text(self, verb: str, owner: Object, pod: Object, failure: str) -> tuple[str, str]:
        done = f"{verb.title()} Pod {pod['metadata']['name']} in StatefulSet {owner['metadata']['name']}"
        if failure:
            return f"Failed{verb.title()}", f"{done} failed error: {failure}"
        return f"Successful{verb.title()}", f"{done} successful"

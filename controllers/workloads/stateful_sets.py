"""Stateful sets: keeps the pods of a StatefulSet, which have stable names and volume claims."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.resources import PERSISTENT_VOLUME_CLAIMS, STATEFUL_SETS
from aio_apiserver.controllers.workloads import claim_retention
from aio_apiserver.controllers.workloads import stateful_set_pods as rules
from aio_apiserver.controllers.workloads.claim_retention import ClaimRetention
from aio_apiserver.controllers.workloads.revision_keeper import RevisionKeeper
from aio_apiserver.controllers.workloads.stateful_set_pods import StatefulSetSituation
from aio_apiserver.registry.base.errors import AlreadyExists, StatusError

_CONFLICT = (
    "PersistentVolumeClaim {} has a conflicting OwnerReference that acts as a manging controller, "
    "the retention policy is ignored for this claim"
)


class StatefulSetController(RevisionKeeper):
    """Makes, replaces and deletes pods in order."""

    name = "statefulset-controller"
    place = STATEFUL_SETS
    kind = "StatefulSet"

    def begin(self) -> None:
        super().begin()
        self._claims = self.follow(PERSISTENT_VOLUME_CLAIMS, claim_retention.set_key_of)

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
            await self._carry_out(owner, situation, every)
        live = {*names, *map(rules.revision_of, members)}
        await self.forget_old(owner, live)
        waits = any(podrules.ready_since(pod) is not None and not situation.is_available(pod) for pod in members)
        return float(owner["spec"].get("minReadySeconds") or 0) if waits else None

    async def _carry_out(self, owner: Object, situation: StatefulSetSituation, revisions: dict[str, Object]) -> None:
        plan = situation.plan(self.most_at_once)
        if len(plan.make) == self.most_at_once:
            self.queue.add(key_of(owner))
        wanted = [rules.pod_of(owner, number, revisions[revision]) for number, revision in plan.make.items()]
        blocked = [pod for pod in wanted if self._has_stale_claim(owner, pod)]
        for pod in wanted:
            if pod not in blocked:
                await self._make_with_claims(owner, pod)
        for pod in situation.reached():
            await self._look_after_claims(owner, pod)
        if not blocked:
            await self.delete(owner, plan.delete)

    def _has_stale_claim(self, owner: Object, pod: Object) -> bool:
        return any(map(ClaimRetention(owner, pod).is_stale, self._present_claims(owner, pod)))

    def _present_claims(self, owner: Object, pod: Object) -> list[Object]:
        keys = map(key_of, rules.claims(owner, rules.ordinal(pod)).values())
        return [claim for key in keys if (claim := self._claims.get(key)) is not None]

    async def _make_with_claims(self, owner: Object, pod: Object) -> None:
        try:
            await self._ensure_claims(owner, pod)
        except StatusError as exc:
            self.say(owner, *self.event_text("create", owner, pod, str(exc)), is_warning=True)
            raise
        await self.make(owner, [pod])
        await self._own_claims(owner, pod)

    async def _look_after_claims(self, owner: Object, pod: Object) -> None:
        """Make the missing claims of a pending pod. The claims of each pod get the owner of the retention policy."""
        is_pending = podrules.phase(pod) == "Pending" and rules.ordinal(pod) in rules.ordinals(owner)
        if is_pending:
            await self._ensure_claims(owner, pod)
        is_up_to_date = map(ClaimRetention(owner, pod).is_up_to_date, self._present_claims(owner, pod))
        if is_pending or not all(is_up_to_date):
            await self._own_claims(owner, pod)

    async def _own_claims(self, owner: Object, pod: Object) -> None:
        retention = ClaimRetention(owner, pod)
        for claim in rules.claims(owner, rules.ordinal(pod)).values():
            known = self._claims.get(key_of(claim))
            if known is not None and retention.is_conflicting(known):
                self.say(owner, "ConflictingController", _CONFLICT.format(claim["metadata"]["name"]), is_warning=True)
            if known is None or not retention.is_up_to_date(known):
                await self.client.change(PERSISTENT_VOLUME_CLAIMS, claim, retention.apply)

    async def _ensure_claims(self, owner: Object, pod: Object) -> None:
        """Make the missing claims. Raises StatusError while a claim is being deleted."""
        for claim in rules.claims(owner, rules.ordinal(pod)).values():
            present = self._claims.get(key_of(claim))
            if present is None:
                await self._make_claim(owner, pod, claim)
            elif podrules.is_ending(present):
                raise StatusError(f"pvc {claim['metadata']['name']} is being deleted")

    async def _make_claim(self, owner: Object, pod: Object, claim: Object) -> None:
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
            raise StatusError(f"failed to create PVC {name}: {exc}") from exc
        self.say(owner, "SuccessfulCreate", f"Create Claim {name} {subject} success")

    def event_text(self, verb: str, owner: Object, pod: Object, failure: str) -> tuple[str, str]:
        done = f"{verb.title()} Pod {pod['metadata']['name']} in StatefulSet {owner['metadata']['name']}"
        if failure:
            return f"Failed{verb.title()}", f"{done} failed error: {failure}"
        return f"Successful{verb.title()}", f"{done} successful"

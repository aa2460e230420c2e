"""Resource claims: makes the claims of pods from templates, and releases claims whose pods have ended.

The queue keys begin with the kind. Must hold: a claim is made once for a pod. A claim that no pod uses has no devices.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.client import key_of, split
from aio_apiserver.controllers.runtime.controller import Controller, NotYet, if_same
from aio_apiserver.controllers.runtime.informers import Informer
from aio_apiserver.controllers.runtime.resources import PODS, RESOURCE_CLAIM_TEMPLATES, RESOURCE_CLAIMS
from aio_apiserver.controllers.volumes.pod_claims import FINALIZER, claim_names, reserved_for

_POD, _CLAIM = "pod ", "claim "
_OF_POD = "resource.kubernetes.io/pod-claim-name"
_LONGEST_BASE = 57


class ResourceClaimController(Controller):
    """The claims of pods. Without the API of resource claims it does nothing."""

    name = "resourceclaim-controller"
    account = "resource-claim-controller"

    def begin(self) -> None:
        if self.client.served.get(RESOURCE_CLAIMS) is None:
            return
        self._pods = self.follow(PODS)
        self._pods.listen(self._pod_changed)
        self._templates = self.follow(RESOURCE_CLAIM_TEMPLATES)
        self._claims: Informer = self.follow(RESOURCE_CLAIMS, lambda claim: _CLAIM + key_of(claim))

    def _pod_changed(self, key: str, before: Object | None, after: Object | None) -> None:
        pods = [one for one in (before, after) if one is not None and one["spec"].get("resourceClaims")]
        if not pods:
            return
        self.queue.add(_POD + key)
        namespace, _ = split(key)
        for pod in pods:
            for one in claim_names(pod):
                if one.name:
                    self.queue.add(f"{_CLAIM}{namespace}/{one.name}")

    async def reconcile(self, key: str) -> float | None:
        if key.startswith(_POD):
            pod = self._pods.get(key.removeprefix(_POD))
            if pod is not None and podrules.is_active(pod):
                await self._make_claims(pod)
            return None
        claim = self._claims.get(key.removeprefix(_CLAIM))
        if claim is not None:
            await self.release(claim)
        return None

    # Claims from templates

    async def _make_claims(self, pod: Object) -> None:
        """Make the missing claims of a pod. Raises NotYet while a template is missing."""
        made = {one["name"] for one in (pod.get("status") or {}).get("resourceClaimStatuses") or ()}
        new: dict[str, str] = {}
        is_incomplete = False
        for one in pod["spec"]["resourceClaims"]:
            if not one.get("resourceClaimTemplateName") or one["name"] in made:
                continue
            claim = self._orphan(pod, one["name"]) or await self._make(pod, one)
            is_incomplete = is_incomplete or claim is None
            if claim is not None:
                new[one["name"]] = claim["metadata"]["name"]
        if new:
            await self.client.change(PODS.part("status"), pod, lambda present: _note(present, new))
        if is_incomplete:
            raise NotYet

    def _orphan(self, pod: Object, name: str) -> Object | None:
        """A claim that was made for a pod before its status says so."""
        metadata = pod["metadata"]
        for claim in self._claims.controlled_by(metadata["namespace"], metadata["uid"]):
            if (claim["metadata"].get("annotations") or {}).get(_OF_POD) == name:
                return claim
        return None

    async def _make(self, pod: Object, given: Object) -> Object | None:
        metadata = pod["metadata"]
        template = self._templates.get(f"{metadata['namespace']}/{given['resourceClaimTemplateName']}")
        if template is None:
            return None
        wanted = template["spec"].get("metadata") or {}
        owner = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": metadata["name"],
            "uid": metadata["uid"],
            "controller": True,
        }
        claim: Object = {
            "metadata": {
                "generateName": f"{metadata['name']}-{given['name']}"[:_LONGEST_BASE] + "-",
                "ownerReferences": [{**owner, "blockOwnerDeletion": True}],
                "annotations": {**(wanted.get("annotations") or {}), _OF_POD: given["name"]},
                "labels": dict(wanted.get("labels") or {}),
            },
            "spec": template["spec"]["spec"],
        }
        return await self.client.create(RESOURCE_CLAIMS, claim, namespace=metadata["namespace"])

    # Claims without users

    async def release(self, claim: Object) -> None:
        """Drop the pods that have ended; a claim without pods loses its devices, and goes if it was made for a pod."""
        after = await self._consumers(claim)
        is_ending = podrules.is_ending(claim)
        is_held = FINALIZER in (claim["metadata"].get("finalizers") or ())
        if after != reserved_for(claim) or (is_held and not after and is_ending):
            released = await self._reserve_for(claim, after)
            if not after and is_held and released is not None:
                await self.client.change(RESOURCE_CLAIMS, claim, if_same(released, _let_go))
        if self._was_for_ended_pod(claim) and not is_ending:
            await self.client.delete(RESOURCE_CLAIMS, claim)

    async def _consumers(self, claim: Object) -> list[Object]:
        """The pods and others that use a claim."""
        namespace = claim["metadata"]["namespace"]
        reserved = reserved_for(claim)
        return [one for one in reserved if one.get("resource") != "pods" or await self._is_used_by(namespace, one)]

    async def _reserve_for(self, claim: Object, consumers: list[Object]) -> Object | None:
        """None when the claim is gone. Raises NotYet if it has changed: the scheduler may have reserved it since."""
        reserve = if_same(claim, lambda present: _reserve(present, consumers))
        return await self.client.change(RESOURCE_CLAIMS.part("status"), claim, reserve)

    async def _is_used_by(self, namespace: str, consumer: Object) -> bool:
        """Whether a pod is there. The scheduler may have reserved for a pod that the informer does not show yet."""
        key = f"{namespace}/{consumer['name']}"
        pod = self._pods.get(key)
        if pod is None or pod["metadata"]["uid"] != consumer["uid"]:
            pod = await self.client.get(PODS, key)
        return pod is not None and pod["metadata"]["uid"] == consumer["uid"] and not podrules.is_finished(pod)

    def _was_for_ended_pod(self, claim: Object) -> bool:
        owner = podrules.controller_of(claim)
        if owner.get("kind") != "Pod" or _OF_POD not in (claim["metadata"].get("annotations") or {}):
            return False
        pod = self._pods.get(f"{claim['metadata']['namespace']}/{owner['name']}")
        return pod is not None and pod["metadata"]["uid"] == owner["uid"] and podrules.is_finished(pod)


def _note(pod: Object, made: dict[str, str]) -> None:
    status = dict(pod.get("status") or {})
    entries = [{"name": name, "resourceClaimName": claim} for name, claim in made.items()]
    status["resourceClaimStatuses"] = [*(status.get("resourceClaimStatuses") or ()), *entries]
    pod["status"] = status


def _reserve(claim: Object, consumers: list[Object]) -> None:
    """Reserve a claim for these pods. Without any it loses its devices."""
    status = {**(claim.get("status") or {}), "reservedFor": consumers}
    if not consumers:
        for name in ("reservedFor", "allocation", "devices"):
            status.pop(name, None)
    claim["status"] = status


def _let_go(claim: Object) -> None:
    claim["metadata"]["finalizers"] = [one for one in claim["metadata"].get("finalizers") or () if one != FINALIZER]

"""Stateful sets: pods with a number, made in order, updated from the last to the first. Pure.

Must hold: with the policy OrderedReady, nothing is made or deleted while a pod with a lower (for deletions: any other)
number is not available; pods below the partition keep their revision.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from aio_apiserver.controllers.decisions import pods, revisions
from aio_apiserver.controllers.decisions.rollouts import replicas, scaled
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.groups.core.pod_conditions import is_ready
from aio_apiserver.storage.stored_object import Object

_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
_INDEX_LABEL = "apps.kubernetes.io/pod-index"
_NUMBERED = re.compile("(.*)-([0-9]+)")


def ordinal(pod: Object) -> int:
    """The number of a pod; -1 without one."""
    match = _NUMBERED.fullmatch(pod["metadata"]["name"])
    return int(match[2]) if match else -1


def is_member(owner: Object, pod: Object) -> bool:
    """Whether a pod is named after a set."""
    match = _NUMBERED.fullmatch(pod["metadata"]["name"])
    return match is not None and match[1] == owner["metadata"]["name"]


def first(owner: Object) -> int:
    return int(objects.get(owner, "spec.ordinals.start", 0))


def is_parallel(owner: Object) -> bool:
    return bool(owner["spec"].get("podManagementPolicy") == "Parallel")


def revision_of(pod: Object) -> str:
    return str((pod["metadata"].get("labels") or {}).get(revisions.LABEL, ""))


def claims(owner: Object, number: int) -> dict[str, Object]:
    """The volume claims of one pod, by the names of their templates."""
    made = {}
    for template in owner["spec"].get("volumeClaimTemplates") or ():
        name = template["metadata"]["name"]
        labels = {**(template["metadata"].get("labels") or {}), **(owner["spec"]["selector"].get("matchLabels") or {})}
        metadata = {"name": f"{name}-{owner['metadata']['name']}-{number}", "labels": labels}
        if annotations := template["metadata"].get("annotations"):
            metadata["annotations"] = dict(annotations)
        made[name] = {"metadata": metadata, "spec": template["spec"]}
    return made


def pod_of(owner: Object, number: int, revision: Object) -> Object:
    """The pod of a number, as a revision wants it."""
    template = objects.clone(revisions.template_of(revision))
    pod = pods.from_template(template, owner, "apps/v1", "StatefulSet")
    name = f"{owner['metadata']['name']}-{number}"
    metadata, spec = pod["metadata"], pod["spec"]
    del metadata["generateName"]
    metadata["name"] = name
    own = {_NAME_LABEL: name, _INDEX_LABEL: str(number), revisions.LABEL: revision["metadata"]["name"]}
    metadata["labels"] = {**metadata.get("labels", {}), **own}
    spec["hostname"] = name
    if owner["spec"].get("serviceName"):
        spec["subdomain"] = owner["spec"]["serviceName"]
    wanted = claims(owner, number)
    volumes = [one for one in spec.get("volumes") or () if one["name"] not in wanted]
    for volume, claim in wanted.items():
        source = {"claimName": claim["metadata"]["name"]}
        volumes.append({"name": volume, "persistentVolumeClaim": source})
    if volumes:
        spec["volumes"] = volumes
    return pod


class Plan(Struct):
    """What to do next: numbers of pods to make, with the revision of each, and pods to delete."""

    make: dict[int, str] = field(default_factory=dict)
    delete: list[Object] = field(default_factory=list)


class Situation(Struct, frozen=True):
    """A set, its pods, and its two revisions by name: that of before and that of now."""

    owner: Object
    pods: Sequence[Object]
    current: str
    update: str
    now: float

    @property
    def numbers(self) -> range:
        return range(first(self.owner), first(self.owner) + replicas(self.owner))

    @property
    def by_number(self) -> Mapping[int, Object]:
        return {ordinal(pod): pod for pod in self.pods}

    @property
    def partition(self) -> int:
        return int(objects.get(self.owner, "spec.updateStrategy.rollingUpdate.partition", 0))

    def is_available(self, pod: Object | None) -> bool:
        minimum = int(self.owner["spec"].get("minReadySeconds") or 0)
        return pod is not None and pods.is_active(pod) and pods.is_available(pod, minimum, now=self.now)

    def plan(self) -> Plan:
        """The next steps."""
        plan, there, ordered = Plan(), self.by_number, not is_parallel(self.owner)
        for number in self.numbers:
            pod = there.get(number)
            if pod is None:
                plan.make[number] = self._revision_for(number)
            elif pods.is_finished(pod) and not pods.is_ending(pod):
                plan.delete.append(pod)
            elif self.is_available(pod):
                continue
            if ordered:
                return plan
        condemned = sorted((pod for pod in self.pods if ordinal(pod) not in self.numbers), key=ordinal, reverse=True)
        if condemned and ordered:
            if not pods.is_ending(condemned[0]):
                plan.delete.append(condemned[0])
            return plan
        plan.delete += [pod for pod in condemned if not pods.is_ending(pod)]
        if not plan.make and not plan.delete:
            plan.delete += self._outdated()
        return plan

    def _revision_for(self, number: int) -> str:
        """Below the partition, and while an update has not come to it, a pod is made as before."""
        if objects.get(self.owner, "spec.updateStrategy.type", "RollingUpdate") == "OnDelete":
            return self.update
        return self.current if number < first(self.owner) + self.partition else self.update

    def _outdated(self) -> list[Object]:
        """The pods to update now, from the last on: one at a time, or as many as may be unavailable."""
        strategy = self.owner["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete" or self.current == self.update:
            return []
        amount = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
        most = max(1, scaled(amount, replicas(self.owner), up=True))
        unavailable = sum(1 for pod in self.pods if not self.is_available(pod))
        there, found = self.by_number, list[Object]()
        for number in reversed(self.numbers[self.partition :]):
            pod = there.get(number)
            if pod is not None and revision_of(pod) != self.update and unavailable + len(found) < most:
                found.append(pod)
        return [pod for pod in found if not pods.is_ending(pod)]

    def status(self) -> Object:
        """What the set says of itself."""
        alive = [pod for pod in self.pods if not pods.is_finished(pod)]
        active = [pod for pod in alive if pods.is_active(pod)]
        updated = [pod for pod in active if revision_of(pod) == self.update]
        old = [pod for pod in active if revision_of(pod) == self.current]
        before = self.owner.get("status") or {}
        told: Object = {
            "observedGeneration": self.owner["metadata"].get("generation", 0),
            "replicas": len(alive),
            "readyReplicas": sum(1 for pod in alive if is_ready(pod)),
            "availableReplicas": sum(1 for pod in alive if self.is_available(pod)),
            "currentReplicas": len(old),
            "updatedReplicas": len(updated),
            "currentRevision": self.current,
            "updateRevision": self.update,
            "collisionCount": int(before.get("collisionCount") or 0),
        }
        if self._is_complete(told, updated):
            told.update({"currentRevision": self.update, "currentReplicas": len(updated)})
        kept = {"replicas", "availableReplicas", "collisionCount"}
        return {name: value for name, value in told.items() if value or name in kept}

    def _is_complete(self, told: Object, updated: Iterable[Object]) -> bool:
        if objects.get(self.owner, "spec.updateStrategy.type", "RollingUpdate") == "OnDelete":
            return False
        is_all = told["updatedReplicas"] == told["replicas"] == told["readyReplicas"]
        return is_all and told["replicas"] == replicas(self.owner) and all(map(is_ready, updated))

"""Stateful set pods: the next pods to make, update and delete of a StatefulSet, and its status.

Pure. Must hold: with OrderedReady, no pod is made while one with a lower ordinal is not available. No pod is deleted
while any other one is not available. Pods below the partition keep their revision.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods
from aio_apiserver.controllers.workloads import revisions
from aio_apiserver.controllers.workloads.rollouts import replicas, scaled
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready

_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
_INDEX_LABEL = "apps.kubernetes.io/pod-index"
_NUMBERED = re.compile("(.*)-([0-9]+)")


def ordinal(pod: Object) -> int:
    """The ordinal of a pod; -1 without one."""
    match = _NUMBERED.fullmatch(pod["metadata"]["name"])
    return int(match[2]) if match else -1


def parent(pod: str) -> str:
    """The name of the set that a pod's name belongs to; empty without one."""
    match = _NUMBERED.fullmatch(pod)
    return match[1] if match else ""


def is_member(owner: Object, pod: Object) -> bool:
    """Whether the name of a pod belongs to a set."""
    return bool(parent(pod["metadata"]["name"]) == owner["metadata"]["name"])


def first(owner: Object) -> int:
    return int(objects.get(owner, "spec.ordinals.start", 0))


def ordinals(owner: Object) -> range:
    """The ordinals of the wanted pods."""
    return range(first(owner), first(owner) + replicas(owner))


def is_parallel(owner: Object) -> bool:
    return bool(owner["spec"].get("podManagementPolicy") == "Parallel")


def revision_of(pod: Object) -> str:
    return str((pod["metadata"].get("labels") or {}).get(revisions.LABEL, ""))


def claims(owner: Object, number: int) -> dict[str, Object]:
    """The volume claims of one pod, by template name."""
    made = {}
    for template in owner["spec"].get("volumeClaimTemplates") or ():
        name = template["metadata"]["name"]
        labels = {**(template["metadata"].get("labels") or {}), **(owner["spec"]["selector"].get("matchLabels") or {})}
        namespace, claim = owner["metadata"]["namespace"], f"{name}-{owner['metadata']['name']}-{number}"
        metadata = {"name": claim, "namespace": namespace, "labels": labels}
        if annotations := template["metadata"].get("annotations"):
            metadata["annotations"] = dict(annotations)
        made[name] = {"metadata": metadata, "spec": template["spec"]}
    return made


def pod_of(owner: Object, number: int, revision: Object) -> Object:
    """The pod with an ordinal, from the template of a revision."""
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


class StatefulSetPlan(Struct):
    """The ordinals of pods to make, each with its revision, and the pods to delete."""

    make: dict[int, str] = field(default_factory=dict)
    delete: list[Object] = field(default_factory=list)


class StatefulSetSituation(Struct, frozen=True):
    """A set, its pods, and the names of its current and update revisions."""

    owner: Object
    pods: Sequence[Object]
    current: str
    update: str
    now: float

    @property
    def numbers(self) -> range:
        return ordinals(self.owner)

    @property
    def by_number(self) -> Mapping[int, Object]:
        return {ordinal(pod): pod for pod in self.pods}

    @property
    def condemned(self) -> Sequence[Object]:
        """The pods to scale away, the last one first."""
        return sorted((pod for pod in self.pods if ordinal(pod) not in self.numbers), key=ordinal, reverse=True)

    @property
    def partition(self) -> int:
        return int(objects.get(self.owner, "spec.updateStrategy.rollingUpdate.partition", 0))

    def is_available(self, pod: Object | None) -> bool:
        minimum = int(self.owner["spec"].get("minReadySeconds") or 0)
        return pod is not None and pods.is_active(pod) and pods.is_available(pod, minimum, now=self.now)

    @property
    def wanted_pods(self) -> Sequence[Object]:
        """The present pods with wanted ordinals, in their order. A set may want two billion pods."""
        return sorted((pod for pod in self.pods if ordinal(pod) in self.numbers), key=ordinal)

    def plan(self, most: int) -> StatefulSetPlan:
        """The next steps, with at most so many pods to make."""
        plan, there, ordered = StatefulSetPlan(), self.by_number, not is_parallel(self.owner)
        for number in self.numbers:
            pod = there.get(number)
            if pod is None:
                plan.make[number] = self._revision_for(number)
                if len(plan.make) == most:
                    return plan
            elif pods.is_finished(pod) and not pods.is_ending(pod):
                plan.delete.append(pod)
            elif self.is_available(pod):
                continue
            if ordered:
                return plan
        condemned = self.condemned
        if condemned and ordered:
            if not pods.is_ending(condemned[0]):
                plan.delete.append(condemned[0])
            return plan
        plan.delete += [pod for pod in condemned if not pods.is_ending(pod)]
        if not plan.make and not plan.delete:
            plan.delete += self._outdated()
        return plan

    def reached(self) -> list[Object]:
        """The pods whose claims are looked after now. With OrderedReady, none after one that is not available."""
        if is_parallel(self.owner):
            return [*self.wanted_pods, *self.condemned]
        there, found = self.by_number, list[Object]()
        for number in self.numbers:
            pod = there.get(number)
            is_available = self.is_available(pod)
            if pod is not None and (is_available or pods.phase(pod) == "Pending"):
                found.append(pod)
            if not is_available:
                return found
        return [*found, *self.condemned]

    def _revision_for(self, number: int) -> str:
        """The revision for a missing pod: the current one below the partition and before the update has reached it."""
        if objects.get(self.owner, "spec.updateStrategy.type", "RollingUpdate") == "OnDelete":
            return self.update
        return self.current if number < first(self.owner) + self.partition else self.update

    def _outdated(self) -> list[Object]:
        """The pods to update now, from the last ordinal on: one, or up to maxUnavailable."""
        strategy = self.owner["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete" or self.current == self.update:
            return []
        amount = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
        most = max(1, scaled(amount, replicas(self.owner), up=True))
        unavailable = sum(1 for pod in self.pods if not self.is_available(pod))
        moving, found = self.numbers[self.partition :], list[Object]()
        for pod in reversed(self.wanted_pods):
            is_old = ordinal(pod) in moving and revision_of(pod) != self.update
            if is_old and unavailable + len(found) < most:
                found.append(pod)
        return [pod for pod in found if not pods.is_ending(pod)]

    def status(self) -> Object:
        """The status of the set."""
        alive = [pod for pod in self.pods if not pods.is_finished(pod)]
        active = [pod for pod in alive if pods.is_active(pod)]
        updated = [pod for pod in active if revision_of(pod) == self.update]
        old = [pod for pod in active if revision_of(pod) == self.current]
        before = self.owner.get("status") or {}
        result: Object = {
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
        if self._is_complete(result, updated):
            result.update({"currentRevision": self.update, "currentReplicas": len(updated)})
        kept = {"replicas", "availableReplicas", "collisionCount"}
        return {name: value for name, value in result.items() if value or name in kept}

    def _is_complete(self, result: Object, updated: Iterable[Object]) -> bool:
        if objects.get(self.owner, "spec.updateStrategy.type", "RollingUpdate") == "OnDelete":
            return False
        is_all = result["updatedReplicas"] == result["replicas"] == result["readyReplicas"]
        return is_all and result["replicas"] == replicas(self.owner) and all(map(is_ready, updated))

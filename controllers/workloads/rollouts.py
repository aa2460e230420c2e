"""Rollouts: which ReplicaSet of a Deployment is the present one, and the next size of each.

Pure. Must hold: during a rolling update, at most replicas + maxSurge pods are wanted. No step leaves fewer than
replicas - maxUnavailable pods available.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAX = "deployment.kubernetes.io/max-replicas"
_NOT_COPIED = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        REVISION,
        HISTORY,
        DESIRED,
        MAX,
        "deprecated.deployment.rollback.to",
    }
)
_LONGEST_HISTORY = 2000
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def fnv32a(data: bytes) -> int:
    """The 32-bit FNV-1a hash."""
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def template_hash(template: Object, collisions: int | None) -> str:
    """A short hash of a template, in an alphabet without vowels."""
    data = orjson.dumps([template, collisions], option=orjson.OPT_SORT_KEYS)
    return "".join(_ALPHABET[ord(char) % len(_ALPHABET)] for char in str(fnv32a(data)))


def without_hash(template: Object) -> Object:
    """A template without the pod-template-hash label."""
    metadata = dict(template.get("metadata") or {})
    labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name != HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def replicas(obj: Object) -> int:
    """The wanted number of replicas."""
    value = obj["spec"].get("replicas")
    return 1 if value is None else int(value)


def total(sets: Iterable[Object]) -> int:
    return sum(replicas(one) for one in sets)


def reported(sets: Iterable[Object], name: str) -> int:
    return sum(int((one.get("status") or {}).get(name) or 0) for one in sets)


def created(obj: Object) -> tuple[str, str]:
    return str(obj["metadata"]["creationTimestamp"]), str(obj["metadata"]["name"])


def find_new(deployment: Object, sets: Iterable[Object]) -> Object | None:
    """The oldest replica set with the template of the deployment."""
    wanted = without_hash(deployment["spec"]["template"])
    for one in sorted(sets, key=created):
        if without_hash(one["spec"]["template"]) == wanted:
            return one
    return None


def revision(obj: Object) -> int:
    text = str((obj["metadata"].get("annotations") or {}).get(REVISION, "0"))
    return int(text) if text.isdigit() else 0


def is_rolling(deployment: Object) -> bool:
    return bool(objects.get(deployment, "spec.strategy.type", "RollingUpdate") == "RollingUpdate")


def scaled(value: Any, whole: int, *, up: bool) -> int:
    """A number, or a percentage of `whole`."""
    if isinstance(value, str) and value.endswith("%"):
        hundredths = int(value[:-1]) * whole
        return -(-hundredths // 100) if up else hundredths // 100
    return int(value or 0)


def fenceposts(deployment: Object) -> tuple[int, int]:
    """The values of maxSurge and maxUnavailable as numbers."""
    rolling = objects.get(deployment, "spec.strategy.rollingUpdate", {})
    whole = replicas(deployment)
    surge = scaled(rolling.get("maxSurge", 0), whole, up=True)
    unavailable = scaled(rolling.get("maxUnavailable", 0), whole, up=False)
    return surge, 1 if surge == 0 and unavailable == 0 else unavailable


def max_surge(deployment: Object) -> int:
    return fenceposts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: Object) -> int:
    if not is_rolling(deployment) or replicas(deployment) == 0:
        return 0
    return min(fenceposts(deployment)[1], replicas(deployment))


def new_size(deployment: Object, sets: Sequence[Object], new: Object) -> int:
    """The next size of the present replica set."""
    wanted = replicas(deployment)
    if not is_rolling(deployment) or replicas(new) > wanted:
        return wanted
    room = wanted + max_surge(deployment) - total(sets)
    return replicas(new) + max(0, min(room, wanted - replicas(new)))


Sizes = dict[str, int]
"""The new replicas by the name of the replica set."""


def roll(deployment: Object, new: Object, old: Sequence[Object]) -> Sizes:
    """The next step of a rolling update: scale up while there is room, else scale down while enough pods stay
    available.
    """
    size = new_size(deployment, [*old, new], new)
    if size != replicas(new):
        return {new["metadata"]["name"]: size}
    return _shrink(deployment, new, sorted(filter(replicas, old), key=created))


def _shrink(deployment: Object, new: Object, old: Sequence[Object]) -> Sizes:
    least = replicas(deployment) - max_unavailable(deployment)
    missing = replicas(new) - reported([new], "availableReplicas")
    room = total([*old, new]) - least - missing
    sizes = {one["metadata"]["name"]: replicas(one) for one in old}
    before = dict(sizes)
    for one in old if room > 0 else ():  # unhealthy replicas go first
        unhealthy = max(0, replicas(one) - reported([one], "availableReplicas"))
        gone = min(room, unhealthy)
        sizes[one["metadata"]["name"]] -= gone
        room -= gone
    spare = min(room, reported([*old, new], "availableReplicas") - least)
    for one in old if spare > 0 else ():
        gone = min(spare, sizes[one["metadata"]["name"]])
        sizes[one["metadata"]["name"]] -= gone
        spare -= gone
    return {name: size for name, size in sizes.items() if size != before[name]}


def rescale(deployment: Object, new: Object | None, old: Sequence[Object]) -> Sizes:
    """The sizes after a change of the replicas alone: each active replica set gets its share."""
    wanted = replicas(deployment)
    everything = [*old, *([new] if new is not None else [])]
    active = [one for one in everything if replicas(one) > 0]
    if len(active) <= 1:
        one = active[0] if active else new or max(old, key=created, default=None)
        return {one["metadata"]["name"]: wanted} if one is not None and replicas(one) != wanted else {}
    if new is not None and replicas(new) == wanted and wanted == reported([new], "availableReplicas"):
        return {one["metadata"]["name"]: 0 for one in active if one is not new}
    if not is_rolling(deployment):
        return {}
    return _shares(deployment, active)


def _shares(deployment: Object, active: Sequence[Object]) -> Sizes:
    most = replicas(deployment) + max_surge(deployment) if replicas(deployment) else 0
    change = most - total(active)
    if change == 0:
        return {}
    ranked = sorted(active, key=created, reverse=change > 0)
    ranked.sort(key=replicas, reverse=True)
    sizes, left = {}, change
    for one in ranked:
        was = int((one["metadata"].get("annotations") or {}).get(MAX) or 0) or reported([deployment], "replicas") or 1
        share = round(replicas(one) * most / was) - replicas(one)
        share = max(0, min(share, left)) if change > 0 else min(0, max(share, left))
        sizes[one["metadata"]["name"]] = replicas(one) + share
        left -= share
    largest = ranked[0]["metadata"]["name"]
    sizes[largest] = max(0, sizes[largest] + left)
    return sizes


def is_scaling(deployment: Object, sets: Iterable[Object]) -> bool:
    """Whether the replicas of the deployment differ from the annotation of a replica set."""
    desired = [(one["metadata"].get("annotations") or {}).get(DESIRED) for one in sets if replicas(one) > 0]
    wanted = str(replicas(deployment))
    return any(text is not None and text != wanted for text in desired)


def mark_sizes(deployment: Object, one: Object) -> None:
    """Write the wanted and the largest number of replicas into the annotations of a replica set."""
    annotations = one["metadata"].setdefault("annotations", {})
    annotations[DESIRED] = str(replicas(deployment))
    annotations[MAX] = str(replicas(deployment) + max_surge(deployment))


def mark_new(deployment: Object, one: Object, number: int) -> bool:
    """Write the revision and the deployment's annotations to the present replica set. Returns whether it changed."""
    annotations = one["metadata"].setdefault("annotations", {})
    before = dict(annotations)
    given = deployment["metadata"].get("annotations") or {}
    annotations.update({name: value for name, value in given.items() if name not in _NOT_COPIED})
    was = revision(one)
    if was < number:
        if was:
            past = [*filter(None, str(annotations.get(HISTORY, "")).split(",")), str(was)]
            while len(",".join(past)) > _LONGEST_HISTORY:
                past.pop(0)
            annotations[HISTORY] = ",".join(past)
        annotations[REVISION] = str(number)
    wanted = deployment["spec"].get("minReadySeconds", 0)
    is_other = one["spec"].get("minReadySeconds", 0) != wanted
    if is_other:
        one["spec"]["minReadySeconds"] = wanted
    return is_other or bool(annotations != before)


def make_new(deployment: Object, old: Sequence[Object]) -> Object:
    """The replica set for a new template."""
    spec = deployment["spec"]
    name = template_hash(spec["template"], (deployment.get("status") or {}).get("collisionCount"))
    metadata = dict(spec["template"].get("metadata") or {})
    labels = {**(metadata.get("labels") or {}), HASH: name}
    selector = dict(spec["selector"])
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH: name}
    made: Object = {
        "metadata": {"name": f"{deployment['metadata']['name']}-{name}", "labels": dict(labels)},
        "spec": {
            "replicas": 0,
            "minReadySeconds": spec.get("minReadySeconds", 0),
            "selector": selector,
            "template": {**spec["template"], "metadata": {**metadata, "labels": dict(labels)}},
        },
    }
    made["spec"]["replicas"] = new_size(deployment, [*old, made], made)
    return made


def superfluous(deployment: Object, old: Iterable[Object]) -> list[Object]:
    """The old replica sets above the history limit."""
    limit = deployment["spec"].get("revisionHistoryLimit")
    if limit is None:
        return []
    idle = [one for one in old if _is_idle(one) and not one["metadata"].get("deletionTimestamp")]
    idle.sort(key=lambda one: (revision(one), created(one)))
    return idle[: max(0, len(idle) - int(limit))]


def _is_idle(one: Object) -> bool:
    """Whether a replica set wants no pods, and its controller has reported none since."""
    is_reported = reported([one], "observedGeneration") >= one["metadata"].get("generation", 0)
    return is_reported and replicas(one) == 0 == reported([one], "replicas")

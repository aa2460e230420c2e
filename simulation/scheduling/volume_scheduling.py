"""Volume scheduling: the nodes on which a pod's claims have volumes, and what its node decides for claims that wait.

Pure. It is the volume binding of kube-scheduler.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.volumes import pod_volumes
from aio_apiserver.controllers.volumes import volume_matching as volumes
from aio_apiserver.registry.groups.core.volumes.volume_classes import class_of

_OTHER_NODE = "node(s) didn't match PersistentVolume's node affinity"
_NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
_UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
Lookup = Callable[[str], Object | None]
Candidates = Callable[[Object], Iterable[Object]]


class PodClaims(Struct):
    """The claims of a pod. `problem`: why no node fits; `chosen`: the node that a claim already names."""

    problem: str = ""
    bound: list[Object] = field(default_factory=list)
    """The volumes of the bound claims."""
    open: list[tuple[Object, Object]] = field(default_factory=list)
    """The claims that wait for the node, each with its StorageClass."""
    chosen: str = ""
    is_waiting: bool = False
    """Whether a volume is being made for a claim."""


def claims_of(pod: Object, claim_at: Lookup, volume_at: Lookup, class_at: Lookup) -> PodClaims:
    """Sort the claims of a pod."""
    found = PodClaims()
    for name, is_ephemeral in pod_volumes.claims_of(pod):
        claim = claim_at(f"{pod['metadata']['namespace']}/{name}")
        found.problem = found.problem or _problem(pod, claim, name, is_ephemeral=is_ephemeral)
        if claim is not None and not found.problem:
            _sort(found, claim, volume_at, class_at)
    return found


def _problem(pod: Object, claim: Object | None, name: str, *, is_ephemeral: bool) -> str:
    if claim is None:
        if is_ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        return f'persistentvolumeclaim "{name}" not found'
    if (claim.get("status") or {}).get("phase") == "Lost":
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{_volume_name(claim)}"'
    if claim["metadata"].get("deletionTimestamp"):
        return f'persistentvolumeclaim "{name}" is being deleted'
    if is_ephemeral and pod_volumes.is_foreign(claim, pod):
        return f'PVC "{name}" was not created for pod "{pod["metadata"]["name"]}"'
    return ""


def _volume_name(claim: Object) -> str:
    return claim["spec"].get("volumeName") or ""


def _sort(found: PodClaims, claim: Object, volume_at: Lookup, class_at: Lookup) -> None:
    annotations = volumes.annotations_of(claim)
    found.chosen = found.chosen or annotations.get(volumes.SELECTED_NODE, "")
    if volumes.BIND_COMPLETED in annotations and _volume_name(claim):
        volume = volume_at(_volume_name(claim))
        found.bound += [volume] if volume is not None else []
        return
    class_ = class_at(class_of(claim))
    if class_ is None or not volumes.waits_for_consumer(class_):
        found.problem = _UNBOUND
    elif volumes.SELECTED_NODE in annotations or _volume_name(claim):
        found.is_waiting = True
    else:
        found.open.append((claim, class_))


def keeps_away(found: PodClaims, candidates: Candidates, node: Object) -> str:
    """The reason why the claims of a pod exclude a node; empty when they do not."""
    if any(not volumes.is_on(one, node) for one in found.bound):
        return _OTHER_NODE
    return "" if assignments(found, candidates, node) is not None else _NO_VOLUME


def assignments(found: PodClaims, candidates: Candidates, node: Object) -> list[tuple[Object, Object | None]] | None:
    """For each open claim its volume on a node, or None for one that a provisioner makes; None when one has neither."""
    result: list[tuple[Object, Object | None]] = []
    for claim, class_ in found.open:
        taken = [volume["metadata"]["name"] for _, volume in result if volume is not None]
        free = (one for one in candidates(claim) if one["metadata"]["name"] not in taken)
        volume = volumes.best(claim, free, node=node)
        if volume is None and not _provisions(class_, node):
            return None
        result.append((claim, volume))
    return result


def _provisions(class_: Mapping[str, Any], node: Object) -> bool:
    """Whether the provisioner of a class makes volumes for a node."""
    if class_["provisioner"] == volumes.NO_PROVISIONER:
        return False
    labels, terms = node["metadata"].get("labels") or {}, class_.get("allowedTopologies") or ()
    return not terms or any(
        all(labels.get(one["key"]) in one["values"] for one in term.get("matchLabelExpressions") or ())
        for term in terms
    )

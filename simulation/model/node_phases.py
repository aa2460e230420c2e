"""Node phases: what the annotation `simulate.aio-apiserver/phase` makes of a simulated node.

Pure.

- NotReady: the kubelet reports that it is not ready. It starts no containers, and stops them.
- Unreachable: the kubelet is silent. Its lease expires, and its pods stay as they were.
- Cordoned: the node takes no new pods. Drained: besides, its pods are evicted.
"""

from collections.abc import Iterable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import controller_of, is_active
from aio_apiserver.simulation.model.annotations import PREFIX

NOT_READY, UNREACHABLE, DRAINED = "NotReady", "Unreachable", "Drained"
_CORDONING = ("Cordoned", DRAINED)
_CORDONED = f"{PREFIX}cordoned"
"""The annotation of a node that a phase has cordoned, so that its end lifts just that cordon."""
_MIRROR = "kubernetes.io/config.mirror"


def phase_of(node: Object) -> str:
    """The phase that a node shall have."""
    return (node["metadata"].get("annotations") or {}).get(f"{PREFIX}phase") or "Ready"


def is_silent(node: Object) -> bool:
    """Whether the kubelet of a node does nothing."""
    return phase_of(node) == UNREACHABLE


def has_right_cordon(node: Object) -> bool:
    """Whether the cordon of a node is as its phase wants it."""
    is_ours = _CORDONED in (node["metadata"].get("annotations") or {})
    return bool(node["spec"].get("unschedulable")) if phase_of(node) in _CORDONING else not is_ours


def cordon(node: Object) -> None:
    """Cordon a node, or lift the cordon of an earlier phase."""
    annotations = dict(node["metadata"].get("annotations") or {})
    if phase_of(node) in _CORDONING:
        annotations[_CORDONED] = "true"
        node["spec"]["unschedulable"] = True
    else:
        annotations.pop(_CORDONED, None)
        node["spec"].pop("unschedulable", None)
    node["metadata"]["annotations"] = annotations


def to_evict(pods: Iterable[Object]) -> list[Object]:
    """The pods that a drain evicts: all but those of daemon sets and static ones."""
    return [
        pod
        for pod in pods
        if is_active(pod)
        and controller_of(pod).get("kind") != "DaemonSet"
        and _MIRROR not in (pod["metadata"].get("annotations") or {})
    ]

"""Waiting: the pods that no node takes, grouped by what they want, until a change of the cluster may help them.

Pure. Pods that want the same are tried one after the other: when the first one does not fit, the others do not either.
So a change costs one attempt for each group.

    group web: a, b, c    a node changes: a is tried    a fits: b is tried    b does not fit: c waits
"""

import orjson
from msgspec import Struct, field

from aio_apiserver.simulation.scheduling.pod_views import PodView

_WANTS = ("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints", "preemptionPolicy")


def group_of(pod: PodView) -> str:
    """The same text for pods that fit the same nodes."""
    spec = pod.obj["spec"]
    claims = [one for one in spec.get("volumes") or () if "persistentVolumeClaim" in one or "ephemeral" in one]
    has_own = bool(claims or spec.get("resourceClaims") or pod.nominated_node)
    wants = {name: spec[name] for name in _WANTS if spec.get(name)}
    parts = [pod.namespace, pod.priority, pod.labels, pod.requests, sorted(pod.ports), wants]
    return orjson.dumps([*parts, pod.key if has_own else ""], option=orjson.OPT_SORT_KEYS).decode()


def looks_at_pods(pod: PodView) -> bool:
    """Whether a pod that is placed can help this one."""
    return pod.terms.has_any or bool(pod.obj["spec"].get("topologySpreadConstraints"))


class _Group(Struct):
    """The pods of one group. `why`: the message of the last attempt; `is_current`: whether nothing changed since."""

    looks_at_pods: bool
    keys: dict[str, None] = field(default_factory=dict)
    why: str = ""
    is_current: bool = False


class WaitingPods:
    """The pods without a node of one scheduler."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._group_of: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._group_of)

    def put(self, pod: PodView, why: str, *, is_current: bool) -> list[str]:
        """Note that a pod fits nowhere. Returns the pods of its group that were given another message."""
        name = group_of(pod)
        if self._group_of.get(pod.key) != name:
            self.drop(pod.key)
        self._group_of[pod.key] = name
        group = self._groups.setdefault(name, _Group(looks_at_pods(pod)))
        outdated = [key for key in group.keys if key != pod.key] if is_current and group.why != why else []
        group.keys[pod.key] = None
        group.why, group.is_current = why, is_current
        return outdated

    def last_answer(self, pod: PodView) -> str:
        """The message of another pod of the group, if nothing has changed since."""
        group = self._groups.get(group_of(pod)) if self._groups else None
        return group.why if group is not None and group.is_current else ""

    def outdate(self, key: str) -> None:
        """A change concerns a pod and its group."""
        name = self._group_of.get(key)
        if name is not None:
            self._groups[name].is_current = False

    def drop(self, key: str) -> str:
        """Forget a pod. Returns the pod of its group that comes next; empty without one."""
        name = self._group_of.pop(key, None)
        if name is None:
            return ""
        group = self._groups[name]
        del group.keys[key]
        if not group.keys:
            del self._groups[name]
        return next(iter(group.keys), "")

    def firsts(self, *, of_all: bool) -> list[str]:
        """The pods to try after a change: the first of each group. Of all groups, or of those that look at pods."""
        groups = [one for one in self._groups.values() if of_all or one.looks_at_pods]
        for one in groups:
            one.is_current = False
        return [next(iter(one.keys)) for one in groups]

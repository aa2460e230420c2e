"""Scheduling: whether a pod fits a node: node selector and affinity, taints, resources.

Pure. It has a part of kube-scheduler's filters.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base import amounts
from aio_apiserver.registry.groups.core.parts.pod_resources import aggregate
from aio_apiserver.storage.stored_object import Object

_HARD_EFFECTS = ("NoSchedule", "NoExecute")
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


def tolerates(pod: Object, taint: Mapping[str, Any]) -> bool:
    """Whether a pod tolerates a taint."""
    return any(_covers(one, taint) for one in pod["spec"].get("tolerations") or ())


def _covers(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")


def _is_untolerated(pod: Object, node: Object) -> str:
    if node["spec"].get("unschedulable") and not tolerates(pod, {"key": _UNSCHEDULABLE, "effect": "NoSchedule"}):
        return "node(s) were unschedulable"
    for taint in node["spec"].get("taints") or ():
        if taint.get("effect") in _HARD_EFFECTS and not tolerates(pod, taint):
            return f"node(s) had untolerated taint(s) {{{taint['key']}: {taint.get('value', '')}}}"
    return ""


def matches_node(pod: Object, node: Object) -> bool:
    """Whether a node matches the node selector and affinity of a pod."""
    labels = node["metadata"].get("labels") or {}
    if not (pod["spec"].get("nodeSelector") or {}).items() <= labels.items():
        return False
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or meets_terms(required["nodeSelectorTerms"], node)


def meets_terms(terms: Iterable[Mapping[str, Any]], node: Object) -> bool:
    """Whether a node meets one of the terms of a node selector."""
    labels = node["metadata"].get("labels") or {}
    return any(_meets_term(term, node, labels) for term in terms)


def _meets_term(term: Mapping[str, Any], node: Object, labels: Mapping[str, str]) -> bool:
    expressions, members = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not members:
        return False
    name = {"metadata.name": node["metadata"]["name"]}
    return all(_meets(one, labels) for one in expressions) and all(_meets(one, name) for one in members)


_COMPARISONS: Mapping[str, Callable[[str | None, Sequence[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _values: value is not None,
    "DoesNotExist": lambda value, _values: value is None,
    "Gt": lambda value, values: _number(value) > _number(values[0]),
    "Lt": lambda value, values: _number(value) < _number(values[0]),
}


def _number(text: str | None) -> float:
    """NaN for a text that is not a number, since it compares as false."""
    return int(text) if text is not None and text.lstrip("+-").isdigit() else float("nan")


def _meets(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    compare = _COMPARISONS[expression["operator"]]
    return compare(labels.get(expression["key"]), expression.get("values") or ())


def _lacks(pod: Object, node: Object, there: Collection[Object]) -> str:
    allocatable = amounts.parsed((node.get("status") or {}).get("allocatable"))
    pods = allocatable.get("pods")
    if pods is not None and amounts.count(len(there) + 1).nanos > pods.nanos:
        return "Too many pods"
    wanted = aggregate(pod["spec"], "requests")
    used: Mapping[str, Any] = {}
    for other in there if wanted else ():
        used = amounts.added(used, aggregate(other["spec"], "requests"))
    for name, amount in wanted.items():
        total = amounts.plus(used[name], amount) if name in used else amount
        if name not in allocatable or total.nanos > allocatable[name].nanos:
            return f"Insufficient {name}"
    return ""


def keeps_away(pod: Object, node: Object) -> str:
    """The reason why a node does not accept a pod, apart from resources; empty when it does."""
    reason = _is_untolerated(pod, node)
    if not reason and not matches_node(pod, node):
        reason = "node(s) didn't match Pod's node affinity/selector"
    return reason


def why_not(pod: Object, node: Object, there: Collection[Object]) -> str:
    """The reason why a pod does not fit a node with these pods; empty when it fits."""
    return keeps_away(pod, node) or _lacks(pod, node, there)


def choose(
    pod: Object,
    nodes: Iterable[Object],
    pods_on: Mapping[str, Collection[Object]],
    excluded: Callable[[Object], str] = lambda _node: "",
) -> tuple[str, str]:
    """The node for a pod: of those that fit, the one with the fewest pods. Without one, the reason.

    `excluded` names other reasons against a node.
    """
    reasons: Counter[str] = Counter()
    by_name = {node["metadata"]["name"]: node for node in nodes}
    emptiest = [(len(pods_on.get(name, ())), name) for name in by_name]
    heapq.heapify(emptiest)
    while emptiest:
        _, name = heapq.heappop(emptiest)
        reason = why_not(pod, by_name[name], pods_on.get(name, ())) or excluded(by_name[name])
        if not reason:
            return name, ""
        reasons[reason] += 1
    why = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
    return (
        "",
        f"0/{sum(reasons.values())} nodes are available: {why}." if why else "no nodes available to schedule pods",
    )

"""Node placement: whether a node accepts a pod by its labels and taints.

Pure. The scheduler, the daemon sets and the volumes of a cluster use it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object

_HARD_EFFECTS = ("NoSchedule", "NoExecute")
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
UNSCHEDULABLE = "node(s) were unschedulable"
_UNTOLERATED = "node(s) had untolerated taint(s)"


def tolerates(pod: Object, taint: Mapping[str, Any]) -> bool:
    """Whether a pod tolerates a taint."""
    return any(covers(one, taint) for one in pod["spec"].get("tolerations") or ())


def covers(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether a toleration tolerates a taint."""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")


def is_untolerated(pod: Object, node: Object) -> str:
    """The taint or cordon that keeps a pod away, as a reason; empty without one."""
    if node["spec"].get("unschedulable") and not tolerates(pod, {"key": _UNSCHEDULABLE, "effect": "NoSchedule"}):
        return UNSCHEDULABLE
    for taint in node["spec"].get("taints") or ():
        if taint.get("effect") in _HARD_EFFECTS and not tolerates(pod, taint):
            return _UNTOLERATED
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


def keeps_away(pod: Object, node: Object) -> str:
    """The reason why a node does not accept a pod; empty when it does."""
    reason = is_untolerated(pod, node)
    if not reason and not matches_node(pod, node):
        reason = "node(s) didn't match Pod's node affinity/selector"
    return reason

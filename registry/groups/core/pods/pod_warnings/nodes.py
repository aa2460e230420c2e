"""Nodes: warnings for deprecated node labels, and for null selectors that match nothing. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import names

LABELS: Mapping[str, str] = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": ('deprecated since v1.17; use "topology.kubernetes.io/region" instead'),
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
"""The warning for each deprecated node label."""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SELECTS_NOTHING = "a null labelSelector results in matching no pod"

Obj = Mapping[str, Any]


def warn_of_labels(spec: Obj, path: str) -> list[str]:
    """Warn of deprecated node labels in nodeSelector, node affinity and topology spread constraints."""
    selector: Mapping[str, str] = spec.get("nodeSelector") or {}
    found = [f"{path}.nodeSelector[{key}]: {LABELS[key]}" for key in selector if key in LABELS]
    if of_nodes := (spec.get("affinity") or {}).get("nodeAffinity"):
        found += _warn_of_affinity(of_nodes, f"{path}.affinity.nodeAffinity")
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        here, key = f"{path}.topologySpreadConstraints[{index}]", constraint.get("topologyKey", "")
        if key in LABELS:
            found.append(f"{here}.topologyKey: {key} is {LABELS[key]}")
        if constraint.get("labelSelector") is None:
            found.append(f"{here}.labelSelector: {_SELECTS_NOTHING}")
    return found


def _warn_of_affinity(affinity: Obj, path: str) -> list[str]:
    found = []
    required: Sequence[Obj] = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(required):
        found += warn_of_term(term, f"{path}.{_REQUIRED}.nodeSelectorTerms[{index}]")
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        preference, here = weighted.get("preference") or {}, f"{path}.{_PREFERRED}[{index}].preference"
        found += warn_of_term(preference, here, checks_values=True)
    return found


def warn_of_term(term: Obj, path: str, *, checks_values: bool = False) -> list[str]:
    """Warn of deprecated labels in a node selector term. `checks_values` also reports values that no label can have."""
    found = []
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        key, here = expression.get("key", ""), f"{path}.matchExpressions[{index}]"
        if key in LABELS:
            found.append(f"{here}.key: {key} is {LABELS[key]}")
        if checks_values:
            found += [
                f"{here}.values[{number}]: {value} is invalid, {message}"
                for number, value in enumerate(expression.get("values") or ())
                for message in names.check_label_value(value)
            ]
    return found


def warn_of_empty_selectors(spec: Obj, path: str) -> list[str]:
    """Warn of pod affinity terms whose null labelSelector matches no pod."""
    affinity = spec.get("affinity") or {}
    return [
        f"{path}.{kind}.{place}.labelSelector: {_SELECTS_NOTHING}"
        for kind in ("podAffinity", "podAntiAffinity")
        for term, place in _pod_terms(affinity.get(kind) or {})
        if term.get("labelSelector") is None
    ]


def _pod_terms(affinity: Obj) -> Iterator[tuple[Obj, str]]:
    for index, term in enumerate(affinity.get(_REQUIRED) or ()):
        yield term, f"{_REQUIRED}[{index}]"
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        yield weighted.get("podAffinityTerm") or {}, f"{_PREFERRED}[{index}].podAffinityTerm"

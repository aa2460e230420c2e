"""Labels of nodes that have newer names, and the warnings for who still selects by them. Pure."""

from collections.abc import Mapping
from typing import Any

DEPRECATED: Mapping[str, str] = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
"""What clients should hear of each."""


def warn_of_expressions(selector: Mapping[str, Any], path: str) -> list[str]:
    """The warnings for the matchExpressions of a selector, or of a term of one."""
    return [
        f"{path}.matchExpressions[{index}].key: {key} is {DEPRECATED[key]}"
        for index, expression in enumerate(selector.get("matchExpressions") or ())
        if (key := expression.get("key")) in DEPRECATED
    ]


def warn_of_selector(selector: Mapping[str, Any] | None, path: str) -> list[str]:
    """The warnings for a label selector of nodes."""
    if selector is None:
        return []
    labels = [
        f"{path}.matchLabels.{label}: {DEPRECATED[label]}"
        for label in selector.get("matchLabels") or ()
        if label in DEPRECATED
    ]
    return warn_of_expressions(selector, path) + labels

"""Label selectors of objects (matchLabels, matchExpressions): whether they select labels. Pure."""

from collections.abc import Mapping
from typing import Any


def is_empty(selector: Mapping[str, Any]) -> bool:
    """Whether it demands nothing."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether labels meet every demand. An operator that does not exist is no demand: it is refused elsewhere."""
    equal = all(labels.get(name) == value for name, value in (selector.get("matchLabels") or {}).items())
    return equal and all(_meets(one, labels) for one in selector.get("matchExpressions") or ())


def _meets(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = expression.get("key", ""), expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return True

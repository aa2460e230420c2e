"""texts: label selectors, and plain maps that select by labels, as the text that a query says (`a=b,c in (d)`).

Pure. The status of a Scale and the cells of tables are made with it. Messages show selectors as Go does. Must hold:
requirements stand in the order of their keys.
"""

from collections.abc import Mapping
from typing import Any


def selector_text(selector: Any) -> str:
    """A selector as text: what a query would say. Text stays, a plain map means equality."""
    if not selector:
        return ""
    if isinstance(selector, str):
        return selector
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return ",".join(f"{name}={selector[name]}" for name in sorted(selector))
    requirements = [(name, f"{name}={value}") for name, value in (selector.get("matchLabels") or {}).items()]
    requirements += [(one["key"], _expression_text(one)) for one in selector.get("matchExpressions") or ()]
    return ",".join(text for _, text in sorted(requirements, key=lambda requirement: requirement[0]))


def _expression_text(expression: Mapping[str, Any]) -> str:
    key, values = expression["key"], ",".join(sorted(expression.get("values") or ()))
    match expression["operator"]:
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "Exists":
            return f"{key}"
        case _:
            return f"!{key}"


def go_text(selector: Mapping[str, Any] | None) -> str:
    """A label selector as Go prints the struct."""
    if selector is None:
        return "nil"
    labels = "".join(f"{name}: {text}," for name, text in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{one['key']},Operator:{one['operator']},"
        f"Values:[{' '.join(one.get('values') or ())}],}},"
        for one in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )

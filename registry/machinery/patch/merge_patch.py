"""Merge patch: JSON merge patch (RFC 7386): sets members, merges objects, and null removes a member.

Pure. The document and the patch are changed in place. Must hold: merged objects have sorted members, because
kube-apiserver reports errors in that order. A list or scalar that replaces an object is kept as it is. In all other
values the objects lose their null members, and lists keep their nulls.
"""

from typing import Any

Document = dict[str, Any]


def merged(document: Document, patch: Document) -> Document:
    """The document after the patch."""
    for name, value in patch.items():
        if value is None:
            document.pop(name, None)
        else:
            document[name] = _merged(document.get(name), value)
    return dict(sorted(document.items()))


def _merged(present: Any, value: Any) -> Any:
    if not isinstance(present, dict):
        return without_nulls(value)
    return merged(present, value) if isinstance(value, dict) else value


def without_nulls(value: Any) -> Any:
    """A copy without the null members of objects."""
    if isinstance(value, dict):
        return {name: without_nulls(value[name]) for name in sorted(value) if value[name] is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value

"""JSON merge patch (RFC 7386): members are set, merged where both sides are objects, and removed by null.

Pure. Must hold: the present document is used up and so is the patch; objects that the merge has looked into come out
with their members sorted, because kube-apiserver tells what is wrong with them in that order; a list that replaces
another value keeps its nulls, one that is new keeps them too, but its objects lose theirs.
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
    """A new value: nulls mean nothing in its objects."""
    if isinstance(value, dict):
        return {name: without_nulls(value[name]) for name in sorted(value) if value[name] is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value

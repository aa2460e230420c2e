"""Versioner: metadata.resourceVersion: writes a revision into an object and reads it back, upstream's Versioner.

Must hold: stored bytes have an empty resourceVersion, which keeps its position in `metadata`. So setting it preserves
the order of keys that clients see.
"""

from typing import Any

import orjson

from aio_apiserver.storage.errors import InvalidOptions

MAX_REVISION = 2**63 - 1
_MAX_DIGITS = len(str(MAX_REVISION))
_EMPTY = b'"resourceVersion":""'
"""Clients may have used the name for a label or in a custom resource, too; then it occurs twice."""
SET_ON_CREATE = "resourceVersion should not be set on objects to be created"


def set_resource_version(obj: dict[str, Any], revision: int) -> None:
    """Set the resourceVersion, at the position that `clear_resource_version` reserved.

    Revision 0 removes it: the object was not stored (a dry run).
    """
    if revision:
        obj["metadata"]["resourceVersion"] = str(revision)
    else:
        obj["metadata"].pop("resourceVersion", None)


def clear_resource_version(obj: dict[str, Any]) -> None:
    """Empty the resourceVersion before storing; its position is that in kube-apiserver's answers.

    It follows `uid`. In the metadata of custom resources, which is sorted, it precedes it.
    """
    metadata = obj["metadata"]
    if "resourceVersion" in metadata:
        metadata["resourceVersion"] = ""
        return
    ordered = {}
    for name, value in metadata.items():
        if name == "uid" and "creationTimestamp" in ordered:
            ordered["resourceVersion"] = ""
        ordered[name] = value
        if name == "uid":
            ordered.setdefault("resourceVersion", "")
    ordered.setdefault("resourceVersion", "")
    obj["metadata"] = ordered


def with_revision(shown: bytes, obj: dict[str, Any], revision: int) -> bytes:
    """The JSON of an object at a revision, from its JSON with an empty resourceVersion."""
    if shown.count(_EMPTY) == 1:
        return shown.replace(_EMPTY, b'"resourceVersion":"%d"' % revision)
    return orjson.dumps({**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}})


def resource_version(obj: dict[str, Any]) -> int:
    """The revision of an object; 0 when it has none."""
    text = obj["metadata"].get("resourceVersion")
    return parse_resource_version(text) or 0 if text else 0


def claimed_version(obj: dict[str, Any]) -> int:
    """The revision that a new object claims; 0 when it has none or an invalid one."""
    try:
        return resource_version(obj)
    except InvalidOptions:
        return 0


def parse_resource_version(text: str) -> int | None:
    """The number in a resourceVersion; None when it is unset. Raises InvalidOptions for other text."""
    if not text:
        return None
    digits = text.lstrip("0") or "0"
    if not (text.isascii() and text.isdigit()) or len(digits) > _MAX_DIGITS or int(digits) > MAX_REVISION:
        raise InvalidOptions(f"Invalid value: {text!r}: resource version must be a decimal number")
    return int(digits)

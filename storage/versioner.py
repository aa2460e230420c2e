"""Versioner: how a revision shows in an object, as metadata.resourceVersion, and how the text is read back.

Must hold: stored bytes never carry a resourceVersion of their own; the key stays in its place in `metadata` (empty)
so that setting it keeps the order of keys that clients see.
"""

from typing import Any

from aio_apiserver.storage.errors import InvalidOptions

MAX_REVISION = 2**63 - 1
_MAX_DIGITS = len(str(MAX_REVISION))
SET_ON_CREATE = "resourceVersion should not be set on objects to be created"


def set_resource_version(obj: dict[str, Any], revision: int) -> None:
    """Show the revision in the object, in the place that `clear_resource_version` kept for it.

    Revision 0 is an object that was never stored (a dry run's): it shows none.
    """
    if revision:
        obj["metadata"]["resourceVersion"] = str(revision)
    else:
        obj["metadata"].pop("resourceVersion", None)


def clear_resource_version(obj: dict[str, Any]) -> None:
    """Take the revision out before storing: behind `uid`, where the metadata's canonical order has it."""
    metadata = obj["metadata"]
    if "resourceVersion" in metadata:
        metadata["resourceVersion"] = ""
        return
    ordered = {}
    for name, value in metadata.items():
        ordered[name] = value
        if name == "uid":
            ordered["resourceVersion"] = ""
    ordered.setdefault("resourceVersion", "")
    obj["metadata"] = ordered


def resource_version(obj: dict[str, Any]) -> int:
    """The revision that an object carries; 0 when it carries none."""
    text = obj["metadata"].get("resourceVersion")
    return parse_resource_version(text) or 0 if text else 0


def claimed_version(obj: dict[str, Any]) -> int:
    """The revision that a new object says it has; 0 when it says none, or none that can be read."""
    try:
        return resource_version(obj)
    except InvalidOptions:
        return 0


def parse_resource_version(text: str) -> int | None:
    """The number in a resourceVersion; None when it is unset. Raises InvalidOptions for what no server gives out."""
    if not text:
        return None
    digits = text.lstrip("0") or "0"
    if not (text.isascii() and text.isdigit()) or len(digits) > _MAX_DIGITS or int(digits) > MAX_REVISION:
        raise InvalidOptions(f"Invalid value: {text!r}: resource version must be a decimal number")
    return int(digits)

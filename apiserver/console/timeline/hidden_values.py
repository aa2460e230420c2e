"""hidden_values: objects without their secret values, for the timeline and for reports.

Pure. Hidden are the values of Secrets, and texts under names such as `password` or `apiToken`, also in environment
variables and config maps.

Must hold: a given object is not changed.
"""

import re
from typing import Any

from aio_apiserver.base.unstructured import Object

HIDDEN = "(hidden)"
_NAMES = re.compile(
    r"(password|passwd|passphrase|secret|token|credentials?|(api|private|access)[-_.]?key)$", re.IGNORECASE
)
_OF_SECRETS = frozenset({"data", "stringData"})
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def without_secrets(obj: Object, *, is_secret: bool) -> Object:
    """The object with `(hidden)` in the place of each secret value."""
    shown: Object = _masked(obj)
    if not is_secret:
        return shown
    for name in _OF_SECRETS & shown.keys():
        if isinstance(shown[name], dict):
            shown[name] = dict.fromkeys(shown[name], HIDDEN)
    annotations = shown.get("metadata", {}).get("annotations", {})
    if _APPLIED in annotations:
        annotations[_APPLIED] = HIDDEN
    return shown


def _masked(value: Any) -> Any:
    """A copy, without the texts under telling names."""
    if isinstance(value, list):
        return [_masked(one) for one in value]
    if not isinstance(value, dict):
        return value
    copied = {name: HIDDEN if _is_secret(name, one) else _masked(one) for name, one in value.items()}
    name = copied.get("name")
    if isinstance(name, str) and isinstance(copied.get("value"), str) and _NAMES.search(name):
        copied["value"] = HIDDEN
    if isinstance(copied.get(_APPLIED), str):
        copied[_APPLIED] = HIDDEN
    return copied


def _is_secret(name: str, value: Any) -> bool:
    return isinstance(value, str) and bool(value) and _NAMES.search(name) is not None

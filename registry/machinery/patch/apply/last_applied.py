"""Last applied: kubectl's migration from client-side to server-side apply and back.

The annotation holds what kubectl applied on the client side, and kubectl owns these fields as an updater. Its first
server-side apply takes them without conflict. While the annotation is there, each apply by the manager `kubectl`
updates it, so that users can go back.

Pure.
"""

from typing import Any

import orjson
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang import json_texts
from aio_apiserver.registry.machinery.patch.apply import checks, fields
from aio_apiserver.registry.machinery.patch.apply.fields import NOTHING, Fields
from aio_apiserver.registry.machinery.patch.apply.ownership import Versioned

MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
_MOST_BYTES = 256 * 1024
"""The size limit of all annotations together. Beyond it the annotation is removed."""
_HTML = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
"""The characters that Go's JSON encoder escapes."""


def still_as_applied(live: Versioned) -> Fields:
    """The fields of the annotation whose values in the object are still those applied."""
    applied = _configuration(live)
    if applied is None:
        return NOTHING
    change = applied.compared(live)
    found = applied.field_set()
    for changed in (change.modified, change.added, change.removed):
        found = fields.difference(found, changed)
    return found


def _configuration(live: Versioned) -> Versioned | None:
    """The last applied configuration. None when there is none, or when it or the object does not fit the type."""
    text = _annotations(live.value).get(ANNOTATION)
    try:
        config = json_texts.value_of((text or "").encode())
    except ValueError:
        return None
    if not isinstance(config, dict) or config.get("apiVersion") != live.api_version:
        return None
    if checks.misfits(live.shape, live.value) or checks.misfits(live.shape, config):
        return None
    return replace(live, value=config)


def kept_true(obj: Object, config: Object) -> None:
    """Update the annotation, if the object has it, with the configuration just applied."""
    if not _annotations(obj).get(ANNOTATION):
        return
    annotations = {**obj["metadata"]["annotations"], ANNOTATION: _text(config)}
    if sum(len(name.encode()) + len(value.encode()) for name, value in annotations.items()) > _MOST_BYTES:
        del annotations[ANNOTATION]
    obj["metadata"]["annotations"] = annotations


def _text(config: Object) -> str:
    """The configuration without the annotation, as Go's encoder writes it."""
    config = objects.clone(config)
    annotations = objects.get(config, "metadata.annotations")
    if isinstance(annotations, dict):
        annotations.pop(ANNOTATION, None)
    return orjson.dumps(config, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE).decode().translate(_HTML)


def _annotations(obj: Object) -> dict[str, Any]:
    annotations = objects.get(obj, "metadata.annotations")
    return annotations if isinstance(annotations, dict) else {}

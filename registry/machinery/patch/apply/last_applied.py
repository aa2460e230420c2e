"""The way from client-side apply and back: the annotation in which kubectl keeps what it applied.

kubectl owns what it applied from the client as an updater. When it begins to apply on the server, those fields are no
conflicts; and while the annotation is there, it is kept true for those who go back. Only the manager `kubectl` does
so. Pure.
"""

from typing import Any

import orjson

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.patch.apply import checks, fields
from aio_apiserver.registry.machinery.patch.apply.fields import NOTHING, Fields
from aio_apiserver.registry.machinery.patch.apply.ownership import Versioned
from aio_apiserver.storage.stored_object import Object

MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
_MOST_BYTES = 256 * 1024
"""All annotations of an object together: before there are more, the annotation goes."""
_HTML = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
"""What Go's encoder escapes."""


def still_as_applied(live: Versioned) -> Fields:
    """The fields of the annotation that the object still has as they were applied."""
    applied = _configuration(live)
    if applied is None:
        return NOTHING
    change = applied.compared(live)
    found = applied.field_set()
    for changed in (change.modified, change.added, change.removed):
        found = fields.difference(found, changed)
    return found


def _configuration(live: Versioned) -> Versioned | None:
    """What was applied last; None when it is not there, or it or the object does not fit the type of today."""
    text = _annotations(live.value).get(ANNOTATION)
    try:
        config = orjson.loads(text or b"")
    except orjson.JSONDecodeError:
        return None
    if not isinstance(config, dict) or config.get("apiVersion") != live.api_version:
        return None
    if checks.misfits(live.shape, live.value) or checks.misfits(live.shape, config):
        return None
    return live._replace(value=config)


def kept_true(obj: Object, config: Object) -> None:
    """Say in an object's annotation, if it has one, what has just been applied."""
    if not _annotations(obj).get(ANNOTATION):
        return
    annotations = {**obj["metadata"]["annotations"], ANNOTATION: _text(config)}
    if sum(len(name.encode()) + len(value.encode()) for name, value in annotations.items()) > _MOST_BYTES:
        del annotations[ANNOTATION]
    obj["metadata"]["annotations"] = annotations


def _text(config: Object) -> str:
    """A configuration without the annotation, as Go's encoder writes it."""
    config = objects.clone(config)
    annotations = objects.get(config, "metadata.annotations")
    if isinstance(annotations, dict):
        annotations.pop(ANNOTATION, None)
    return orjson.dumps(config, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE).decode().translate(_HTML)


def _annotations(obj: Object) -> dict[str, Any]:
    annotations = objects.get(obj, "metadata.annotations")
    return annotations if isinstance(annotations, dict) else {}

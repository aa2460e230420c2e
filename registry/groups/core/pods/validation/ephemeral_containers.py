"""Ephemeral containers: validates an update of pods/ephemeralcontainers. It may add containers, but not change or
remove them. Pure.
"""

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.validation import pod, updates
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj
from aio_apiserver.registry.groups.core.pods.validation.scheduling import MIRROR

_STRUCT = "core.EphemeralContainer"


def validate(new: Obj, old: Obj, found: Errors, *, options: PodOptions) -> Errors:
    """The errors of the update. `found` are those of the metadata, which come first."""
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return [field.forbidden("[]", "static pods do not support ephemeral containers")]
    errors = found + pod.validate(new, options=options) + pod.validate_annotations(new, old, options=options)
    path = "spec.ephemeralContainers"
    known = {one.get("name", ""): one for one in new["spec"].get("ephemeralContainers") or ()}
    for before in old["spec"].get("ephemeralContainers") or ():
        name = before.get("name", "")
        if name not in known:
            why = f"existing ephemeral containers {quote(name)} may not be removed\n"
            errors.append(field.forbidden(path, why))
        elif not updates.is_same(_STRUCT, before, known[name]):
            changes = updates.difference(_STRUCT, before, known[name])
            why = f"existing ephemeral containers {quote(name)} may not be changed\n{changes}"
            errors.append(field.forbidden(path, why))
    return errors

"""Templates: validates a pod template: its metadata, its spec, and the fields that pods alone may have. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.core.pods.validation import annotations
from aio_apiserver.registry.groups.core.pods.validation.allowances import options_for
from aio_apiserver.registry.groups.core.pods.validation.spec import validate_pod_spec

_NOT_IN_TEMPLATES = "ephemeral containers not allowed in pod template"


def validate_pod_template(
    template: Mapping[str, Any],
    path: str,
    *,
    old: Mapping[str, Any] | None = None,
    context: StrategyContext | None = None,
) -> list[FieldError]:
    """The errors of a pod template at `path`. An update may keep the violations of the old template."""
    metadata, spec = template.get("metadata") or {}, template["spec"]
    before = (old["spec"], old.get("metadata")) if old else (None, None)
    options = options_for(*before, context=context)
    present = metadata.get("annotations") or {}
    errors = object_meta.validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    errors += object_meta.validate_annotations(present, f"{path}.annotations")
    errors += annotations.validate(present, spec, f"{path}.annotations", options=options)
    errors += validate_pod_spec(spec, None, f"{path}.spec", options=options)
    errors += annotations.validate_profiles(metadata, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        errors.append(field.forbidden(f"{path}.spec.ephemeralContainers", _NOT_IN_TEMPLATES))
    return errors

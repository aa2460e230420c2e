"""Pod: validates a pod beside its spec: annotations, and rules that pod templates do not have. Pure."""

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.validation import annotations, containers
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj
from aio_apiserver.registry.groups.core.pods.validation.spec import validate_pod_spec

_NO_ACCOUNT = "must not be specified when serviceAccountName is not set"


def validate(pod: Obj, *, options: PodOptions) -> Errors:
    """The errors of a new or changed pod, without the common errors of metadata."""
    metadata, spec = pod["metadata"], pod["spec"]
    present = metadata.get("annotations") or {}
    errors = annotations.validate(present, spec, "metadata.annotations", options=options) if present else []
    errors += validate_pod_spec(spec, metadata, "spec", options=options)
    if spec.get("volumes") and not spec.get("serviceAccountName"):
        errors += _validate_no_tokens(spec)
    for member in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(member) or ()):
            errors += containers.validate_image(container, f"spec.{member}[{index}]")
    return errors


def _validate_no_tokens(spec: Obj) -> Errors:
    return [
        field.forbidden(f"spec.volumes[{number}].projected.sources[{index}].serviceAccountToken", _NO_ACCOUNT)
        for number, volume in enumerate(spec.get("volumes") or ())
        for index, source in enumerate((volume.get("projected") or {}).get("sources") or ())
        if source.get("serviceAccountToken") is not None
    ]


def validate_new(pod: Obj, *, options: PodOptions) -> Errors:
    """The errors of a new pod."""
    spec = pod["spec"]
    errors = validate(pod, options=options)
    if spec.get("ephemeralContainers"):
        errors.append(field.forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        why = "cannot be set until all schedulingGates have been cleared"
        errors.append(field.forbidden("spec.nodeName", why))
    return errors + annotations.validate_profiles(pod["metadata"], spec, "spec")


def validate_annotations(new: Obj, old: Obj, *, options: PodOptions) -> Errors:
    """The errors of the annotations of a changed pod."""
    present, before = new["metadata"].get("annotations") or {}, old["metadata"].get("annotations") or {}
    errors = annotations.validate_update(present, before, "metadata.annotations")
    return errors + annotations.validate(present, new["spec"], "metadata.annotations", options=options)

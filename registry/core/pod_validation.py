"""What is wrong with the spec of a pod, or of a template of pods.

Rules stand in the order in which their errors are listed. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from registry.validation import field, names, object_meta, values
from registry.validation.field import FieldError

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_NOT_IN_TEMPLATES = "ephemeral containers not allowed in pod template"
_NAMED_IN_HOSTNAMES = "which can result in surprising behavior; a DNS label is recommended: [{}]"


def validate_spec(spec: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors of a spec that stands at a path."""
    containers, starting = spec.get("containers") or (), spec.get("initContainers") or ()
    errors = (
        _validate_containers(containers, f"{path}.containers") if containers else [field.required(f"{path}.containers")]
    )
    errors += _validate_containers(starting, f"{path}.initContainers", seen=_names(containers))
    errors += values.one_of(spec, path, "restartPolicy", _RESTART_POLICIES)
    errors += values.one_of(spec, path, "dnsPolicy", _DNS_POLICIES)
    return errors


def validate_template(template: Mapping[str, Any], path: str) -> list[FieldError]:
    """The same for a template, whose metadata counts too."""
    metadata, spec = template.get("metadata") or {}, template["spec"]
    errors = object_meta.validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    errors += object_meta.validate_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    errors += validate_spec(spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        errors.append(field.forbidden(f"{path}.spec.ephemeralContainers", _NOT_IN_TEMPLATES))
    return errors


def validate_images(spec: Mapping[str, Any], path: str) -> list[FieldError]:
    """Images of pods have no space around them; those of templates may."""
    return [
        field.invalid(
            f"{path}.{name}[{index}].image", container["image"], "must not have leading or trailing whitespace"
        )
        for name in ("containers", "initContainers")
        for index, container in enumerate(spec.get(name) or ())
        if container.get("image", "").strip() != container.get("image", "")
    ]


def warn_of_name(name: str, use: str) -> list[str]:
    """Names that pods take their own from had better be DNS labels."""
    messages = " ".join(names.is_dns_label(name, False))
    return [f"metadata.name: this is used in {use}, {_NAMED_IN_HOSTNAMES.format(messages)}"] if messages else []


def _names(containers: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(container.get("name", "") for container in containers)


def _validate_containers(
    containers: Sequence[Mapping[str, Any]], path: str, *, seen: frozenset[str] = frozenset()
) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, container in enumerate(containers):
        place = f"{path}[{index}]"
        errors += _validate_container(container, place)
        name = container.get("name", "")
        if name in seen:
            errors.append(field.duplicate(f"{place}.name", name))
        seen |= {name}
    return errors


def _validate_container(container: Mapping[str, Any], path: str) -> list[FieldError]:
    name = container.get("name", "")
    errors = [] if name else [field.required(f"{path}.name")]
    if name:
        errors += [field.invalid(f"{path}.name", name, message) for message in names.is_dns_label(name, False)]
    if not container.get("image"):
        errors.append(field.required(f"{path}.image"))
    errors += values.one_of(container, path, "terminationMessagePolicy", _MESSAGE_POLICIES)
    return errors + values.one_of(container, path, "imagePullPolicy", _PULL_POLICIES)

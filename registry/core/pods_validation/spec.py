"""What is wrong with the spec of a pod, or of a template of pods.

Rules stand in the order in which their errors are listed. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from registry.core.pods_validation.options import PodOptions
from registry.validation import field, names, values
from registry.validation.field import FieldError

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")


def validate_pod_spec(
    spec: Mapping[str, Any], metadata: Mapping[str, Any] | None, path: str, *, options: PodOptions
) -> list[FieldError]:
    """The errors of a spec that stands at a path; `metadata` is that of the pod, None for a template."""
    containers, starting = spec.get("containers") or (), spec.get("initContainers") or ()
    errors = (
        _validate_containers(containers, f"{path}.containers") if containers else [field.required(f"{path}.containers")]
    )
    errors += _validate_containers(starting, f"{path}.initContainers", seen=_names(containers))
    errors += values.one_of(spec, path, "restartPolicy", _RESTART_POLICIES)
    errors += values.one_of(spec, path, "dnsPolicy", _DNS_POLICIES)
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

"""What is wrong with the spec of a pod, or of a template of pods.

Rules stand in the order in which their errors are listed. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from registry.validation import field, names, values
from registry.validation.field import FieldError

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_NAMED_IN_HOSTNAMES = "which can result in surprising behavior; a DNS label is recommended: [{}]"


def validate_spec(spec: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors of a spec that stands at a path."""
    errors = _validate_containers(spec.get("containers") or (), f"{path}.containers")
    errors += values.one_of(spec, path, "restartPolicy", _RESTART_POLICIES)
    errors += values.one_of(spec, path, "dnsPolicy", _DNS_POLICIES)
    return errors


def validate_template(template: Mapping[str, Any], path: str) -> list[FieldError]:
    """The same for a template."""
    return validate_spec(template.get("spec") or {}, f"{path}.spec")


def warn_of_name(name: str, use: str) -> list[str]:
    """Names that pods take their own from had better be DNS labels."""
    messages = " ".join(names.is_dns_label(name, False))
    return [f"metadata.name: this is used in {use}, {_NAMED_IN_HOSTNAMES.format(messages)}"] if messages else []


def _validate_containers(containers: Sequence[Mapping[str, Any]], path: str) -> list[FieldError]:
    if not containers:
        return [field.required(path)]
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, container in enumerate(containers):
        place = f"{path}[{index}]"
        errors += _validate_container(container, place)
        name = container.get("name", "")
        if name in seen:
            errors.append(field.duplicate(f"{place}.name", name))
        seen.add(name)
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

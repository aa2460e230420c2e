"""What controllers of pods have in common: a selector that selects what the template makes, for ever the same."""

from collections.abc import Mapping
from typing import Any

from registry import objects
from registry.core.pods_validation import validate_pod_template
from registry.validation import field, label_selectors, values
from registry.validation.field import FieldError

_MISMATCH = "`selector` does not match template `labels`"
_ALWAYS = ("Always",)
SELECTOR = ("selector",)


def validate(spec: Mapping[str, Any], *, kind: str, owner: str) -> list[FieldError]:
    """Selector and template. A selector that cannot be read cannot be compared with the template."""
    errors = validate_selector(spec, kind=kind)
    selector = spec.get("selector")
    if selector is not None and label_selectors.validate(selector, "spec.selector"):
        return [*errors, field.invalid("spec.selector", selector, "invalid label selector")]
    return errors + validate_selection(spec) + validate_template(spec["template"], owner=owner)


def validate_selector(spec: Mapping[str, Any], *, kind: str) -> list[FieldError]:
    """There is one, and it demands something."""
    selector = spec.get("selector")
    if selector is None:
        return [field.required("spec.selector")]
    errors = label_selectors.validate(selector, "spec.selector")
    if label_selectors.is_empty(selector):
        errors.append(field.invalid("spec.selector", selector, f"empty selector is invalid for {kind}"))
    return errors


def validate_selection(spec: Mapping[str, Any]) -> list[FieldError]:
    """The selector selects the pods that the template makes."""
    labels = objects.get(spec["template"], "metadata.labels") or {}
    if label_selectors.selects(spec.get("selector"), labels):
        return []
    return [field.invalid("spec.template.metadata.labels", _shown(labels), _MISMATCH)]


def validate_template(template: Mapping[str, Any], *, owner: str) -> list[FieldError]:
    """A template of pods that run for ever."""
    path, spec = "spec.template", template["spec"]
    errors = validate_pod_template(template, path)
    errors += values.one_of(spec, f"{path}.spec", "restartPolicy", _ALWAYS)
    if spec.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {owner} is not Supported"
        errors.append(field.forbidden(f"{path}.spec.activeDeadlineSeconds", why))
    return errors


def _shown(labels: Mapping[str, str]) -> Mapping[str, str] | None:
    return dict(sorted(labels.items())) or None

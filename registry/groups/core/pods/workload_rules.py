"""Workload rules: the rules that ReplicaSets, Deployments and similar kinds share: the selector and the pod template.

The selector is immutable and matches the labels of the template.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import field, internal, label_selectors, object_meta, status_counts, values
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import StatusStrategy, StrategyContext
from aio_apiserver.registry.groups.core.pods import pod_warnings
from aio_apiserver.registry.groups.core.pods.validation import templates

_MISMATCH = "`selector` does not match template `labels`"
_ALWAYS = ("Always",)
_REPLICA_COUNTS = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
)
_REPLICA_LIMITS = (
    ("fullyLabeledReplicas", "replicas", status_counts.OF_REPLICAS),
    ("readyReplicas", "replicas", status_counts.OF_REPLICAS),
    ("availableReplicas", "replicas", status_counts.OF_REPLICAS),
    ("availableReplicas", "readyReplicas", status_counts.OF_READY),
)


def validate(
    spec: Mapping[str, Any], context: StrategyContext, *, kind: str, owner: str, old: Mapping[str, Any] | None = None
) -> list[FieldError]:
    """The errors of selector and template. An invalid selector is not compared with the template."""
    errors = validate_selector(spec, kind=kind)
    selector = spec.get("selector")
    if selector is not None and label_selectors.validate(selector, "spec.selector"):
        return [*errors, field.invalid("spec.selector", internal.meta(selector), "invalid label selector")]
    old_template = old["template"] if old else None
    errors += validate_selection(spec)
    return errors + validate_template(spec["template"], context, owner=owner, old=old_template)


def validate_selector(spec: Mapping[str, Any], *, kind: str) -> list[FieldError]:
    """The errors of a selector that is missing, invalid or empty."""
    selector = spec.get("selector")
    if selector is None:
        return [field.required("spec.selector")]
    errors = label_selectors.validate(selector, "spec.selector")
    if label_selectors.is_empty(selector):
        errors.append(field.invalid("spec.selector", internal.meta(selector), f"empty selector is invalid for {kind}"))
    return errors


def validate_same_selector(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """The error for a changed selector. With another selector, the controller would lose its pods."""
    selector = new.get("selector")
    if selector == old.get("selector"):
        return []
    return [field.invalid("spec.selector", internal.meta(selector), object_meta.IMMUTABLE)]


def validate_selection(spec: Mapping[str, Any], path: str = "spec") -> list[FieldError]:
    """The error for a selector that does not match the labels of the template."""
    labels = objects.get(spec["template"], "metadata.labels")
    if label_selectors.selects(spec.get("selector"), labels or {}):
        return []
    return [field.invalid(f"{path}.template.metadata.labels", internal.meta(labels), _MISMATCH)]


def validate_labels(template: Mapping[str, Any], wanted: Mapping[str, str], path: str) -> list[FieldError]:
    """The same error for a selector that is a map of labels."""
    labels = objects.get(template, "metadata.labels")
    if all((labels or {}).get(name) == value for name, value in wanted.items()):
        return []
    return [field.invalid(f"{path}.metadata.labels", internal.meta(labels), _MISMATCH)]


def validate_template(
    template: Mapping[str, Any], context: StrategyContext, *, owner: str, old: Mapping[str, Any] | None = None
) -> list[FieldError]:
    """The errors of the template of pods that always restart."""
    errors = templates.validate_pod_template(template, "spec.template", old=old, context=context)
    return errors + validate_endless(template, owner=owner)


def validate_endless(template: Mapping[str, Any], *, owner: str) -> list[FieldError]:
    """The errors for another restart policy than Always, and for a deadline."""
    path, spec = "spec.template.spec", template["spec"]
    errors = values.one_of(spec, path, "restartPolicy", _ALWAYS)
    if spec.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {owner} is not Supported"
        errors.append(field.forbidden(f"{path}.activeDeadlineSeconds", why))
    return errors


def warnings_on_create(obj: Mapping[str, Any]) -> list[str]:
    """The warnings for a new controller. The names of its pods come from its own name."""
    warnings = pod_warnings.warn_of_name(obj["metadata"]["name"], "Pod names and hostnames")
    return warnings + pod_warnings.template_warnings(obj["spec"]["template"], "spec.template")


def warnings_on_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[str]:
    """The warnings for an update that makes a new generation."""
    if new["metadata"].get("generation") == old["metadata"].get("generation"):
        return []
    return pod_warnings.template_warnings(new["spec"]["template"], "spec.template")


class ReplicasStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of a ReplicaSet or ReplicationController. Its counts have to be consistent."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        return errors + status_counts.validate(new.get("status") or {}, _REPLICA_COUNTS, _REPLICA_LIMITS)

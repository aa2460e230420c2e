"""StatefulSet validation: validates the spec of a StatefulSet. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import (
    field,
    int_or_percent,
    internal,
    label_selectors,
    names,
    object_meta,
    values,
)
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.core.pods import workload_rules
from aio_apiserver.registry.groups.core.pods.validation import allowances, annotations, claims, templates

_ONLY_STEPWISE = "only allowed for updateStrategy 'RollingUpdate'"
_RETENTIONS = ("Retain", "Delete")

Spec = Mapping[str, Any]


def validate(spec: Spec, context: StrategyContext) -> list[FieldError]:
    """The errors of a new spec."""
    errors = _validate_strategies(spec)
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        errors += claims.validate_spec(claim.get("spec") or {}, f"spec.volumeClaimTemplates[{index}].spec")
    errors += _validate_numbers(spec)
    if name := spec.get("serviceName"):
        errors += field.invalid_each("spec.serviceName", name, names.is_dns_label(name, False))
    return errors + _validate_pods(spec, _validate_template(spec, context))


def validate_update(spec: Spec, old: Spec, context: StrategyContext) -> list[FieldError]:
    """The errors of a changed spec. Immutable fields, and an old invalid template, are not validated again."""
    is_old_right = not _validate_kept(old, _validate_template(old, context, old=old), old)
    return _validate_kept(spec, _validate_template(spec, context, old=old) if is_old_right else [], old)


def _validate_kept(spec: Spec, template_errors: list[FieldError], old: Spec) -> list[FieldError]:
    return _validate_strategies(spec) + _validate_numbers(spec) + _validate_pods(spec, template_errors, old)


def _validate_strategies(spec: Spec) -> list[FieldError]:
    errors = _validate_management(spec.get("podManagementPolicy", ""))
    errors += _validate_update_strategy(spec["updateStrategy"], "spec.updateStrategy")
    return errors + _validate_retention(spec["persistentVolumeClaimRetentionPolicy"])


def _validate_numbers(spec: Spec) -> list[FieldError]:
    errors = values.not_negative(spec, "spec", ("replicas", "minReadySeconds"))
    return errors + values.not_negative(spec.get("ordinals") or {}, "spec.ordinals", ("start",))


def _validate_pods(spec: Spec, template_errors: list[FieldError], old: Spec | None = None) -> list[FieldError]:
    """The errors of selector and template. The template is validated when the selector is valid."""
    errors = workload_rules.validate_selector(spec, kind="statefulset")
    selector = spec.get("selector")
    if selector is not None and label_selectors.validate(selector, "spec.selector"):
        errors.append(field.invalid("spec.selector", internal.meta(selector), ""))
    else:
        errors += workload_rules.validate_selection(spec) + template_errors
        errors += _validate_template_metadata(spec["template"], old["template"] if old else None)
    return errors + workload_rules.validate_endless(spec["template"], owner="StatefulSet")


def _validate_management(policy: str) -> list[FieldError]:
    if policy in {"OrderedReady", "Parallel"}:
        return []
    return [field.invalid_typed("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")]


def _validate_update_strategy(strategy: Spec, path: str) -> list[FieldError]:
    steps, steps_path = strategy.get("rollingUpdate"), f"{path}.rollingUpdate"
    match strategy["type"]:
        case "RollingUpdate":
            return _validate_steps(steps, steps_path) if steps is not None else []
        case "OnDelete":
            if steps is None:
                return []
            shown = internal.form("apps.RollingUpdateStatefulSetStrategy", steps)
            return [field.invalid(steps_path, shown, _ONLY_STEPWISE)]
        case _:
            shown = internal.form("apps.StatefulSetUpdateStrategy", strategy)
            return [field.invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")]


def _validate_steps(steps: Spec, path: str) -> list[FieldError]:
    errors = values.not_negative(steps, path, ("partition",))
    unavailable = steps.get("maxUnavailable")
    if unavailable is None:
        return errors
    errors += int_or_percent.validate(unavailable, f"{path}.maxUnavailable")
    if int_or_percent.value_of(unavailable) == 0:
        errors.append(int_or_percent.invalid(f"{path}.maxUnavailable", unavailable, "cannot be 0"))
    return errors + int_or_percent.validate_at_most_all(unavailable, f"{path}.maxUnavailable")


def _validate_retention(policy: Spec) -> list[FieldError]:
    path = "spec.persistentVolumeClaimRetentionPolicy"
    errors = values.one_of(policy, path, "whenDeleted", _RETENTIONS)
    return errors + values.one_of(policy, path, "whenScaled", _RETENTIONS)


def _validate_template(spec: Spec, context: StrategyContext, *, old: Spec | None = None) -> list[FieldError]:
    before = old["template"] if old else None
    return templates.validate_pod_template(
        _as_made(spec),
        "spec.template",
        old=before,
        context=context,
    )


def _validate_template_metadata(template: Spec, old: Spec | None) -> list[FieldError]:
    """The errors of the template's metadata, which kube-apiserver lists twice."""
    metadata, path = template.get("metadata") or {}, "spec.template"
    options = allowances.options_for(*((old["spec"], old.get("metadata")) if old else (None, None)))
    present = metadata.get("annotations") or {}
    errors = object_meta.validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    errors += object_meta.validate_annotations(present, f"{path}.annotations")
    return errors + annotations.validate(present, template["spec"], f"{path}.annotations", options=options)


def _as_made(spec: Spec) -> Spec:
    """The pod template with the volumes that the controller adds for the claim templates."""
    template = spec["template"]
    pod = {name: value for name, value in template["spec"].items() if name not in {"hostname", "subdomain"}}
    claimed = [objects.get(claim, "metadata.name", "") for claim in spec.get("volumeClaimTemplates") or ()]
    if claimed:
        volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(claimed)]
        volumes += [volume for volume in pod.get("volumes") or () if volume.get("name") not in claimed]
        pod["volumes"] = volumes
    return {**template, "spec": pod}

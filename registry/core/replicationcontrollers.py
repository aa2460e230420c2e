"""Replication controllers: they select and are labelled by what their template says, unless they say otherwise."""

from dataclasses import dataclass

from registry import objects
from registry.core import pod_spec, pod_warnings
from registry.core.pods_validation import validate_pod_template
from registry.fields import count
from registry.kind import Kind, Scale
from registry.strategy import GarbageCollection, StatusStrategy, Strategy, StrategyContext
from registry.validation import field, values
from registry.validation.field import FieldError
from storage.stored_object import Object


@dataclass(frozen=True, kw_only=True)
class ReplicationControllerStrategy(Strategy):
    """The labels of the template are what everything else begins with."""

    def default(self, obj: Object) -> None:
        pod_spec.default_template(obj["spec"].get("template"))
        labels = objects.get(obj, "spec.template.metadata.labels")
        if not labels:
            return
        if not obj["spec"].get("selector"):
            obj["spec"]["selector"] = dict(labels)
        if not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj["spec"])

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + _validate_spec(new["spec"])

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return pod_warnings.warn_of_name(obj["metadata"]["name"], "Pod names and hostnames")


def _validate_spec(spec: Object) -> list[FieldError]:
    errors = values.not_negative(spec, "spec", ("minReadySeconds",))
    if not spec.get("selector"):
        errors.append(field.required("spec.selector"))
    errors += values.not_negative(spec, "spec", ("replicas",))
    template = spec.get("template")
    if template is None:
        return [*errors, field.required("spec.template")]
    return errors + _validate_template(template, spec.get("selector") or {})


def _validate_template(template: Object, selector: Object) -> list[FieldError]:
    errors, path = [], "spec.template"
    labels = objects.get(template, "metadata.labels") or {}
    if any(labels.get(name) != value for name, value in selector.items()):
        why = "`selector` does not match template `labels`"
        errors.append(field.invalid(f"{path}.metadata.labels", dict(sorted(labels.items())) or None, why))
    errors += validate_pod_template(template, path)
    errors += values.one_of(template["spec"], f"{path}.spec", "restartPolicy", ("Always",))
    if template["spec"].get("activeDeadlineSeconds") is not None:
        why = "activeDeadlineSeconds in ReplicationController is not Supported"
        errors.append(field.forbidden(f"{path}.spec.activeDeadlineSeconds", why))
    return errors


REPLICATIONCONTROLLERS = Kind(
    group="",
    plural="replicationcontrollers",
    kind="ReplicationController",
    short_names=("rc",),
    categories=("all",),
    strategy=ReplicationControllerStrategy(
        has_status=True, has_generation=True, garbage_collection=GarbageCollection.ORPHAN_DEPENDENTS
    ),
    status_strategy=StatusStrategy(),
    scale=Scale(),
    fields={"status.replicas": count("status.replicas")},
)

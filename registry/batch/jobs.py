"""Jobs: pods that run until enough of them have succeeded. A job selects its pods by its uid unless told otherwise."""

from dataclasses import dataclass

from registry import objects
from registry.core import pod_spec, pod_warnings
from registry.core.pods_validation import validate_pod_template
from registry.fields import count
from registry.kind import Kind
from registry.strategy import GarbageCollection, StatusStrategy, Strategy, StrategyContext
from registry.validation import field, label_selectors, values
from registry.validation.field import FieldError
from storage.stored_object import Object

_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABEL = "batch.kubernetes.io/controller-uid"
_UID_LABELS = ("controller-uid", _UID_LABEL)
_BACKOFF_LIMIT = 6
_NOT_NEGATIVE = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_FROZEN = ("selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class JobStrategy(Strategy):
    """How often and how many at once; and by which labels its pods are known."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["template"])
        if "completions" not in spec and "parallelism" not in spec:
            spec["completions"] = 1
        spec.setdefault("parallelism", 1)
        spec.setdefault("backoffLimit", _NO_LIMIT if "backoffLimitPerIndex" in spec else _BACKOFF_LIMIT)
        spec.setdefault("completionMode", "NonIndexed")
        spec.setdefault("suspend", False)
        spec.setdefault("manualSelector", False)
        spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
        _default_labels(obj)

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        if not obj["spec"]["manualSelector"]:
            _generate_selector(obj)
        _default_labels(obj)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = _validate(new) + super().validate_update(context, new, old)
        return errors + values.unchanged(new["spec"], old["spec"], "spec", _FROZEN)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return pod_warnings.warn_of_name(obj["metadata"]["name"], "Pod names and hostnames")


def validate_spec(spec: Object, path: str) -> list[FieldError]:
    """The errors of a job, or of what a cron job makes jobs of."""
    errors = values.not_negative(spec, path, _NOT_NEGATIVE)
    errors += values.one_of(spec, path, "completionMode", ("NonIndexed", "Indexed"))
    errors += validate_pod_template(spec["template"], f"{path}.template")
    return errors + _validate_restarts(spec["template"]["spec"], f"{path}.template.spec")


def _validate_restarts(spec: Object, path: str) -> list[FieldError]:
    """A job that restarts its pods for ever never ends."""
    if spec["restartPolicy"] == "Always":
        return [field.required(f"{path}.restartPolicy", 'valid values: "OnFailure", "Never"')]
    return values.one_of(spec, path, "restartPolicy", ("OnFailure", "Never"))


def _validate(job: Object) -> list[FieldError]:
    spec, labels = job["spec"], objects.get(job, "spec.template.metadata.labels") or {}
    errors = validate_spec(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        errors.append(field.required("spec.selector"))
    wrong = label_selectors.validate(selector or {}, "spec.selector")
    errors += wrong
    if not wrong and not label_selectors.selects(selector, labels):
        why = "`selector` does not match template `labels`"
        errors.append(field.invalid("spec.template.metadata.labels", dict(sorted(labels.items())) or None, why))
    return errors


def _default_labels(job: Object) -> None:
    """A job is labelled as its pods are, with one and the same map: what is added to it later, both have."""
    labels = objects.get(job, "spec.template.metadata.labels")
    if labels and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = labels


def _generate_selector(job: Object) -> None:
    """Label the pods, and select them by the uid. What a client says of these labels stays, for validation to see."""
    name, uid = job["metadata"].get("name", ""), job["metadata"]["uid"]
    spec = job["spec"]
    metadata = spec["template"].setdefault("metadata", {})
    labels = metadata.setdefault("labels", {})
    for label, value in (*((label, name) for label in _NAME_LABELS), *((label, uid) for label in _UID_LABELS)):
        labels.setdefault(label, value)
    selector = spec.setdefault("selector", {})
    selector["matchLabels"] = {_UID_LABEL: uid, **(selector.get("matchLabels") or {})}


JOBS = Kind(
    group="batch",
    plural="jobs",
    kind="Job",
    categories=("all",),
    strategy=JobStrategy(has_status=True, has_generation=True, garbage_collection=GarbageCollection.ORPHAN_DEPENDENTS),
    status_strategy=StatusStrategy(),
    fields={"status.successful": count("status.succeeded")},
    unknown_field_message="field label {quoted} not supported for Job",
)

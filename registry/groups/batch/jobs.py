"""Jobs: run pods until enough of them have succeeded. By default the server generates the selector from the UID."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.fields import count
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, internal, label_selectors, names, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.error_history import instead, until
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.strategy import GarbageCollection, StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.batch import jobs_columns
from aio_apiserver.registry.groups.core.pods import pod_history, pod_spec, pod_warnings

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.batch import job_status, job_updates, job_validation
else:
    job_status = Deferred("aio_apiserver.registry.groups.batch.job_status")
    job_updates = Deferred("aio_apiserver.registry.groups.batch.job_updates")
    job_validation = Deferred("aio_apiserver.registry.groups.batch.job_validation")

_JOB_NAME, _UID = "job-name", "controller-uid"
_JOB_NAME_LABEL, _UID_LABEL = "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid"
_BACKOFF_LIMIT = 6
_NO_LIMIT = 2**31 - 1
_MANY, _MANY_AT_ONCE = 100_000, 10_000
_TOO_MANY = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
    "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
)
_ORPHANS = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them "
    "or set propagationPolicy=Orphan to suppress this warning"
)


class JobStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of jobs, and their generated selector and labels.

    changes_resources: whether a suspended job may change its resources, and its scheduling again after it has run.
    """

    changes_resources: bool = True

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
        if obj["metadata"].get("generateName") and not obj["metadata"].get("name"):
            _part_labels(obj)

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        if not obj["spec"]["manualSelector"]:
            _generate_selector(obj)

    def canonicalize(self, obj: Object) -> None:
        """Default the labels of a stored Job to those of its pod template. They are not validated."""
        _default_labels(obj)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate(obj, context)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = object_meta.validate(new["metadata"], is_namespaced=True, check_name=self.check_name)
        errors += (
            super().validate(context, new) + _validate(new, context, old) + super().validate_update(context, new, old)
        )
        errors += job_validation.validate(new["spec"], context, old=old["spec"])
        return errors + job_updates.validate(new, old, changes_resources=self.changes_resources, version=self.version)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        warnings = pod_warnings.warn_of_name(obj["metadata"]["name"], "Pod names and hostnames")
        return warnings + spec_warnings(obj["spec"], "spec")

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        if new["metadata"].get("generation") == old["metadata"].get("generation"):
            return []
        return spec_warnings(new["spec"], "spec")

    def warnings_on_delete(self, options: DeleteOptions) -> list[str]:
        is_explicit = options.propagation_policy is not None or options.orphan_dependents is not None
        return [] if is_explicit else [_ORPHANS]


def spec_warnings(spec: Object, path: str) -> list[str]:
    """The warnings for the spec of a Job or of a job template."""
    warnings = []
    is_many = (spec.get("completions") or 0) > _MANY and (spec.get("parallelism") or 0) > _MANY_AT_ONCE
    if job_validation.is_indexed(spec) and is_many:
        warnings.append(f"{path}: {_TOO_MANY}")
    return warnings + pod_warnings.template_warnings(spec["template"], f"{path}.template")


def _validate(job: Object, context: StrategyContext, old: Object | None = None) -> list[FieldError]:
    errors = _validate_generated(job, _expected_labels(job, old))
    errors += job_validation.validate(job["spec"], context, old=old["spec"] if old else None)
    return errors + _validate_hostnames(job)


def _expected_labels(job: Object, old: Object | None) -> Mapping[str, str]:
    """The labels that the pods need. A Job from before the prefixed labels may lack those."""
    name, uid = job["metadata"].get("name", ""), job["metadata"].get("uid", "")
    expected = {_UID: uid, _JOB_NAME: name}
    labels = objects.get(old, "spec.template.metadata.labels", {}) if old else (_JOB_NAME_LABEL, _UID_LABEL)
    if _JOB_NAME_LABEL in labels and _UID_LABEL in labels:
        expected |= {_UID_LABEL: uid, _JOB_NAME_LABEL: name}
    return expected


def _validate_generated(job: Object, expected: Mapping[str, str]) -> list[FieldError]:
    """The errors of a generated selector and of the labels that it needs."""
    spec, selector = job["spec"], job["spec"].get("selector")
    if spec.get("manualSelector") or selector is None:
        return []
    labels, path = objects.get(spec["template"], "metadata.labels") or {}, "spec.template.metadata.labels"
    errors = []
    for key, value in expected.items():
        if key not in labels:
            errors.append(field.required(f"{path}[{key}]", f"must be '{value}'"))
        elif labels[key] != value:
            errors.append(field.invalid(f"{path}[{key}]", internal.meta(labels), f"must be '{value}'"))
    if not label_selectors.validate(selector, "") and not label_selectors.selects(selector, expected):
        errors.append(field.invalid("spec.selector", internal.meta(selector), "`selector` not auto-generated"))
    return errors


def _validate_hostnames(job: Object) -> list[FieldError]:
    """The error for a name that makes invalid hostnames, which are the name and the index."""
    completions = job["spec"].get("completions") or 0
    if not job_validation.is_indexed(job["spec"]) or completions <= 0:
        return []
    name = job["metadata"].get("name", "")
    longest = f"{name}-{completions - 1}"
    if not names.is_dns_label(longest, False):
        return []
    why = f"will not able to create pod with invalid DNS label: {longest}"
    return [field.invalid("metadata.name", name, why)]


def _default_labels(job: Object) -> None:
    """Default the labels to those of the pod template. Both use the same map, so that later additions are in both."""
    labels = objects.get(job, "spec.template.metadata.labels")
    if labels and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = labels


def _part_labels(job: Object) -> None:
    """Copy the labels of a Job with generateName, so that they are its own from then on."""
    if labels := job["metadata"].get("labels"):
        job["metadata"]["labels"] = dict(labels)


def _generate_selector(job: Object) -> None:
    """Add the labels and the selector. Labels of the client stay, and validation checks them."""
    name, uid = job["metadata"].get("name", ""), job["metadata"]["uid"]
    spec = job["spec"]
    metadata = spec["template"].setdefault("metadata", {})
    labels = metadata.setdefault("labels", {})
    for label, value in ((_JOB_NAME, name), (_JOB_NAME_LABEL, name), (_UID, uid), (_UID_LABEL, uid)):
        labels.setdefault(label, value)
    selector = spec.setdefault("selector", {})
    selector["matchLabels"] = {_UID_LABEL: uid, **(selector.get("matchLabels") or {})}


class JobStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of jobs, which has to be consistent."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + job_status.validate(new, old)

    def canonicalize(self, obj: Object) -> None:
        """As defaulting does for other requests, labels default to those of the pod template."""
        _default_labels(obj)


_ERRORS = (
    until(
        (1, 36),
        r"status\.startTime",
        instead(field.required("status.startTime", "startTime cannot be removed for unsuspended job")),
        detail="field is immutable for unsuspended job once set",
    ),
)

JOBS = Kind(
    group="batch",
    plural="jobs",
    kind="Job",
    categories=("all",),
    strategy=JobStrategy(has_status=True, has_generation=True, garbage_collection=GarbageCollection.ORPHAN_DEPENDENTS),
    status_strategy=JobStatusStrategy(),
    fields={"status.successful": count("status.succeeded")},
    unknown_field_message="field label {quoted} not supported for Job",
    columns=jobs_columns.COLUMNS,
    gated=pod_history.gated("spec.template.spec"),
    history=(before((1, 36), strategy={"changes_resources": False}),),
    errors=(*pod_history.ERRORS, *_ERRORS),
)

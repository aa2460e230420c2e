"""Cron jobs: jobs by the clock."""

from dataclasses import dataclass

from registry.batch import jobs
from registry.core import pod_spec, pod_warnings
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy, StrategyContext
from registry.validation import field, values
from registry.validation.field import FieldError
from storage.stored_object import Object

_CONCURRENCY = ("Allow", "Forbid", "Replace")


@dataclass(frozen=True, kw_only=True)
class CronJobStrategy(Strategy):
    """Jobs may overlap, and a few of them are kept. The template of jobs gets no defaults of jobs: it is none yet."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["jobTemplate"]["spec"]["template"])
        spec.setdefault("concurrencyPolicy", "Allow")
        spec.setdefault("suspend", False)
        spec.setdefault("successfulJobsHistoryLimit", 3)
        spec.setdefault("failedJobsHistoryLimit", 1)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj["spec"])

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + _validate_spec(new["spec"])

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return pod_warnings.warn_of_name(obj["metadata"]["name"], "Pod names and hostnames")


def _validate_spec(spec: Object) -> list[FieldError]:
    errors = [] if spec.get("schedule") else [field.required("spec.schedule")]
    errors += values.not_negative(spec, "spec", ("startingDeadlineSeconds",))
    errors += values.one_of(spec, "spec", "concurrencyPolicy", _CONCURRENCY)
    template, path = spec["jobTemplate"]["spec"], "spec.jobTemplate.spec"
    errors += jobs.validate_spec(template, path)
    if template.get("selector") is not None:
        errors.append(field.invalid(f"{path}.selector", template["selector"], "`selector` will be auto-generated"))
    if template.get("manualSelector"):
        errors.append(field.not_supported(f"{path}.manualSelector", True, ("nil", "false")))
    return errors + values.not_negative(spec, "spec", ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"))


CRONJOBS = Kind(
    group="batch",
    plural="cronjobs",
    kind="CronJob",
    short_names=("cj",),
    categories=("all",),
    strategy=CronJobStrategy(has_status=True, has_generation=True),
    status_strategy=StatusStrategy(),
)

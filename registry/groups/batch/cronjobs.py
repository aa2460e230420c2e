"""CronJobs: create Jobs on a schedule."""

import re
from typing import TYPE_CHECKING

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.validation import field, internal, values
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.generic.error_history import since, unchanged
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.batch import jobs, time_zones
from aio_apiserver.registry.groups.core.pods import pod_history, pod_spec, pod_warnings
from aio_apiserver.registry.machinery.printing import ages, formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, count, table_of, text, value
from aio_apiserver.registry.machinery.printing.formats import NONE, UNSET

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.batch import job_validation, schedules
else:
    schedules = Deferred("aio_apiserver.registry.groups.batch.schedules")
    job_validation = Deferred("aio_apiserver.registry.groups.batch.job_validation")

_CONCURRENCY = ("Allow", "Forbid", "Replace")
_NAME_LIMIT = 52
"""The longest name. The name of a Job has eleven more characters, and its limit is 63."""
_ZONE_PART = re.compile(r"(?!-)(?!\.\.?$)[A-Za-z.\-_0-9+]{1,14}", re.ASCII)
_NO_ZONE = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
_TWO_ZONES = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
_NOT_EXPLICIT = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
_ZONE_WARNING = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, "
    "see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


class CronJobStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of cron jobs. The job template gets no defaults of jobs; the created Job gets them."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["jobTemplate"]["spec"]["template"])
        spec.setdefault("concurrencyPolicy", "Allow")
        spec.setdefault("suspend", False)
        spec.setdefault("successfulJobsHistoryLimit", 3)
        spec.setdefault("failedJobsHistoryLimit", 1)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj) + _validate_spec(obj["spec"], context)
        name = obj["metadata"].get("name", "")
        if len(name.encode()) > _NAME_LIMIT:
            why = f"must be no more than {_NAME_LIMIT} characters"
            errors.append(field.invalid("metadata.name", name, why))
        return errors

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + _validate_spec(new["spec"], context, old["spec"])

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        warnings = pod_warnings.warn_of_name(obj["metadata"]["name"], "Pod names and hostnames")
        return warnings + _warnings(obj["spec"])

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        is_new = new["metadata"].get("generation") != old["metadata"].get("generation")
        warnings = _warnings(new["spec"]) if is_new else []
        return warnings + ([_ZONE_WARNING] if "TZ" in new["spec"].get("schedule", "") else [])


def _warnings(spec: Object) -> list[str]:
    return jobs.spec_warnings(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")


def _validate_spec(spec: Object, context: StrategyContext, old: Object | None = None) -> list[FieldError]:
    errors = _validate_schedule(spec, old)
    errors += values.not_negative(spec, "spec", ("startingDeadlineSeconds",))
    if old is None or spec.get("timeZone") != old.get("timeZone"):
        errors += _validate_time_zone(spec.get("timeZone"))
    errors += values.one_of(spec, "spec", "concurrencyPolicy", _CONCURRENCY)
    before = old["jobTemplate"]["spec"] if old else None
    errors += _validate_template(spec["jobTemplate"]["spec"], context, before)
    return errors + values.not_negative(spec, "spec", ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"))


def _validate_schedule(spec: Object, old: Object | None) -> list[FieldError]:
    """The errors of the schedule. A time zone in it may stay where the old object has one."""
    schedule, path = spec.get("schedule"), "spec.schedule"
    if not schedule:
        return [field.required(path)]
    error = schedules.error_of(schedule)
    errors = [field.invalid(path, schedule, error)] if error else []
    if "TZ" not in schedule:
        return errors
    if old is None or "TZ" not in old.get("schedule", ""):
        return [*errors, field.invalid(path, schedule, _NO_ZONE)]
    return errors if spec.get("timeZone") is None else [*errors, field.invalid(path, schedule, _TWO_ZONES)]


def _validate_time_zone(name: str | None) -> list[FieldError]:
    path = "spec.timeZone"
    if name is None:
        return []
    if not name:
        return [field.invalid_typed(path, name, "timeZone must be nil or non-empty string")]
    if not all(map(_ZONE_PART.fullmatch, name.split("/"))):
        return [field.invalid_typed(path, name, f"unknown time zone {name}")]
    errors = [field.invalid_typed(path, name, _NOT_EXPLICIT)] if name.lower() == "local" else []
    error = time_zones.error_of(name)
    return [*errors, field.invalid_typed(path, name, error)] if error else errors


def _validate_template(spec: Object, context: StrategyContext, old: Object | None) -> list[FieldError]:
    """The errors of the job template. It has no selector, because each Job gets its own."""
    path, selector = "spec.jobTemplate.spec", spec.get("selector")
    errors = job_validation.validate_template(spec, path, context, old=old)
    if selector is not None:
        why = "`selector` will be auto-generated"
        errors.append(field.invalid(f"{path}.selector", internal.meta(selector), why))
    if spec.get("manualSelector"):
        errors.append(field.not_supported(f"{path}.manualSelector", True, ("nil", "false")))
    return errors


class CronJobStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of cron jobs, which is not validated."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return []


_SELECTOR = Column(name="Selector", field="batch.v1.JobSpec.selector", priority=1)


def _suspended(job: Object, _now: float) -> str:
    suspend = objects.get(job, "spec.suspend")
    return UNSET if suspend is None else str(suspend)


def _last_schedule(job: Object, now: float) -> str:
    last = objects.get(job, "status.lastScheduleTime")
    return ages.since(last, now) if last else NONE


_COLUMNS = table_of(
    NAME,
    (Column(name="Schedule", field="batch.v1.CronJobSpec.schedule"), value("spec.schedule")),
    (Column(name="Timezone", field="batch.v1.CronJobSpec.timeZone"), text("spec.timeZone", NONE)),
    (Column(name="Suspend", type="boolean", field="batch.v1.CronJobSpec.suspend"), _suspended),
    (Column(name="Active", type="integer", field="batch.v1.CronJobStatus.active"), count("status.active")),
    (Column(name="Last Schedule", field="batch.v1.CronJobStatus.lastScheduleTime"), _last_schedule),
    AGE,
    *formats.containers("spec.jobTemplate.spec.template"),
    (_SELECTOR, formats.selector("spec.jobTemplate.spec.selector")),
)

CRONJOBS = Kind(
    group="batch",
    plural="cronjobs",
    kind="CronJob",
    short_names=("cj",),
    categories=("all",),
    strategy=CronJobStrategy(has_status=True, has_generation=True),
    status_strategy=CronJobStatusStrategy(),
    columns=_COLUMNS,
    gated=pod_history.gated("spec.jobTemplate.spec.template.spec"),
    errors=(*pod_history.ERRORS, since((1, 37), r"spec\.schedule", unchanged, type=ErrorType.REQUIRED, is_last=True)),
)

"""Job status: validates the status of a Job, which the Job controller or another manager reports.

The rules are a table in the order of their errors. Most of them run when their fields change, so that an old violation
does not block later reports. Pure.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base.conditions import is_false, is_true
from aio_apiserver.registry.base.validation import field, internal, values
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.base.validation.object_meta import IMMUTABLE
from aio_apiserver.registry.groups.batch import indexes, job_validation
from aio_apiserver.registry.groups.batch.job_changes import Job, JobChange, JobState

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_TERMINAL = ("Failed", "Complete", "FailureTarget")


class _Rule(Struct, frozen=True):
    """One rule. `error` returns the message for a violation, else an empty text. The rule runs when one of `changed`
    changes, or always when it is empty.
    """

    name: str
    error: Callable[[JobChange], str]
    changed: Sequence[str] = ()
    type: ErrorType = ErrorType.INVALID


def validate(new: Job, old: Job) -> list[FieldError]:
    """The errors of a changed status."""
    change = JobChange(JobState(new), JobState(old))
    errors = values.not_negative(change.new.status, "status", _COUNTS)
    errors += _validate_uncounted(change.new.get("uncountedTerminatedPods") or {})
    return errors + [error for rule in _RULES for error in _apply(rule, change)] + _validate_lasting(change)


def _apply(rule: _Rule, change: JobChange) -> list[FieldError]:
    if rule.changed and not change.has_new(*rule.changed):
        return []
    why, path = rule.error(change), f"status.{rule.name}"
    if not why:
        return []
    if rule.type is ErrorType.REQUIRED:
        return [field.required(path, why)]
    if rule.name == "conditions":
        return [FieldError(ErrorType.INVALID, path, detail=why)]
    return [field.invalid(path, _printed(change.new, rule.name), why)]


def _printed(state: JobState, name: str) -> Any:
    value = state.get(name)
    if name == "uncountedTerminatedPods":
        return internal.form("batch.UncountedTerminatedPods", value)
    return state.count(name) if name in _COUNTS else value


def _validate_uncounted(pods: Job) -> list[FieldError]:
    """The errors of uncountedTerminatedPods, in which each pod is listed once."""
    errors, seen = [], set()
    for name in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(name) or ()):
            path = f"status.uncountedTerminatedPods.{name}[{index}]"
            if not uid:
                errors.append(field.invalid(path, uid, "must not be empty"))
            elif uid in seen:
                errors.append(field.duplicate(path, uid))
            seen.add(uid)
    return errors


def _validate_lasting(change: JobChange) -> list[FieldError]:
    """The errors for values that must not change after they are reported."""
    errors = [
        FieldError(ErrorType.INVALID, "status.conditions", detail=f"cannot disable the terminal {kind}=True condition")
        for kind in _TERMINAL
        if is_true(change.old.status, kind) and not is_true(change.new.status, kind)
    ]
    return errors + [error for rule in _LASTING for error in _apply(rule, change)]


def _when(is_wrong: Callable[[JobChange], Any], why: str) -> Callable[[JobChange], str]:
    return lambda change: why if is_wrong(change) else ""


def _unreadable(name: str) -> Callable[[JobChange], str]:
    """The rule that the indexes in this field can be parsed."""

    def error(change: JobChange) -> str:
        try:
            indexes.parse(change.new.get(name) or "", change.spec.get("completions") or 0)
        except indexes.InvalidIndexes as exc:
            return f"error parsing {name}: {exc}"
        return ""

    return error


def _unreadable_completed(change: JobChange) -> str:
    return "" if change.spec.get("completions") is None else _unreadable("completedIndexes")(change)


def _unreadable_failed(change: JobChange) -> str:
    is_counted = change.spec.get("completions") is not None and change.spec.get("backoffLimitPerIndex") is not None
    return _unreadable("failedIndexes")(change) if is_counted and change.new.get("failedIndexes") is not None else ""


def _overlapping(change: JobChange) -> str:
    completions, failed = change.spec.get("completions"), change.new.get("failedIndexes")
    if completions is None or failed is None:
        return ""
    first = indexes.overlap(change.new.get("completedIndexes") or "", failed, completions)
    return "" if first is None else f"failedIndexes and completedIndexes overlap at index: {first}"


def _needs_start(change: JobChange) -> bool:
    """Whether startTime is missing. A suspended Job without completions may finish without it."""
    is_idle = change.spec.get("suspend") is True and change.spec.get("completions") == 0
    return change.new.is_finished and change.new.get("startTime") is None and not is_idle


def _ends_before_start(change: JobChange) -> bool:
    begin, end = change.new.get("startTime"), change.new.get("completionTime")
    return begin is not None and end is not None and bool(end < begin)


def _lacks_criteria(change: JobChange) -> bool:
    has_policy = change.spec.get("successPolicy") is not None
    return has_policy and change.new.is_complete and not change.new.meets_criteria


_RULES = (
    _Rule(
        "conditions",
        _when(
            lambda change: change.new.is_complete and change.new.is_failed,
            "cannot set Complete=True and Failed=true conditions",
        ),
        ("is_complete", "is_failed"),
    ),
    _Rule(
        "conditions",
        _when(
            lambda change: change.new.is_complete and change.new.is_to_fail,
            "cannot set Complete=True and FailureTarget=true conditions",
        ),
        ("is_complete", "is_to_fail"),
    ),
    _Rule(
        "completionTime",
        _when(
            lambda change: change.new.get("completionTime") is not None and not change.new.is_complete,
            "cannot set completionTime when there is no Complete=True condition",
        ),
        ("is_complete", "completionTime"),
    ),
    _Rule(
        "completionTime",
        _when(
            lambda change: change.new.get("completionTime") is None and change.new.is_complete,
            "completionTime is required for Complete jobs",
        ),
        ("is_complete", "completionTime"),
        ErrorType.REQUIRED,
    ),
    _Rule(
        "completionTime",
        _when(_ends_before_start, "must be equal to or after `startTime`"),
        ("startTime", "completionTime"),
    ),
    _Rule(
        "conditions",
        _when(
            lambda change: change.new.is_failed and not change.new.is_to_fail,
            "cannot set Failed=True condition without the FailureTarget=true condition",
        ),
        ("is_failed", "failedIndexes"),
    ),
    _Rule(
        "conditions",
        _when(
            lambda change: change.new.is_complete and not change.new.meets_criteria,
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        ),
        ("is_complete", "meets_criteria"),
    ),
    _Rule(
        "active",
        _when(
            lambda change: change.new.is_finished and change.new.count("active") > 0,
            "active>0 is invalid for finished job",
        ),
        ("is_finished", "active"),
    ),
    _Rule(
        "startTime",
        _when(_needs_start, "startTime is required for finished job"),
        ("is_finished", "startTime"),
        ErrorType.REQUIRED,
    ),
    _Rule(
        "uncountedTerminatedPods",
        _when(
            lambda change: change.new.is_finished and change.new.uncounted > 0,
            "must be empty for finished job",
        ),
        ("is_finished", "uncountedTerminatedPods"),
    ),
    _Rule("completedIndexes", _unreadable_completed, ("completedIndexes",)),
    _Rule("failedIndexes", _unreadable_failed, ("failedIndexes",)),
    _Rule(
        "completedIndexes",
        _when(
            lambda change: change.new.get("completedIndexes") and not job_validation.is_indexed(change.spec),
            "cannot set non-empty completedIndexes when non-indexed completion mode",
        ),
        ("completedIndexes",),
    ),
    _Rule(
        "failedIndexes",
        _when(
            lambda change: (
                change.spec.get("backoffLimitPerIndex") is None and change.new.get("failedIndexes") is not None
            ),
            "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
        ),
        ("failedIndexes",),
    ),
    _Rule("failedIndexes", _overlapping, ("failedIndexes", "completedIndexes")),
    _Rule(
        "terminating",
        _when(
            lambda change: change.new.is_finished and change.new.count("terminating") > 0,
            "terminating>0 is invalid for finished job",
        ),
        ("is_finished", "terminating"),
    ),
    _Rule(
        "ready",
        _when(
            lambda change: change.new.get("ready") is not None and change.new.get("ready") > change.new.count("active"),
            "cannot set more ready pods than active",
        ),
        ("ready", "active"),
    ),
    _Rule(
        "conditions",
        _when(
            lambda change: change.new.meets_criteria and change.new.is_failed,
            "cannot set SuccessCriteriaMet=True and Failed=true conditions",
        ),
    ),
    _Rule(
        "conditions",
        _when(
            lambda change: change.new.meets_criteria and change.new.is_to_fail,
            "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        ),
    ),
    _Rule(
        "conditions",
        _when(
            _lacks_criteria,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        ),
    ),
)


def _may_shrink(change: JobChange) -> bool:
    """Whether `succeeded` may decrease: an indexed Job whose completions equal its parallelism can be made smaller."""
    completions = change.spec.get("completions")
    return job_validation.is_indexed(change.spec) and bool(completions == change.spec.get("parallelism"))


def _starts_again(change: JobChange) -> bool:
    begin = change.old.get("startTime")
    is_moved = begin is not None and begin != change.new.get("startTime") and not change.spec.get("suspend")
    is_resumed = is_true(change.old.status, "Suspended") and is_false(change.new.status, "Suspended")
    return is_moved and not is_resumed


def _ends_again(change: JobChange) -> bool:
    end, before = change.new.get("completionTime"), change.old.get("completionTime")
    return end is not None and before is not None and bool(end != before)


_LASTING = (
    _Rule(
        "failed",
        _when(
            lambda change: change.new.count("failed") < change.old.count("failed"),
            "cannot decrease the failed counter",
        ),
    ),
    _Rule(
        "succeeded",
        _when(
            lambda change: change.new.count("succeeded") < change.old.count("succeeded") and not _may_shrink(change),
            "cannot decrease the succeeded counter",
        ),
    ),
    _Rule("completionTime", _when(_ends_again, IMMUTABLE)),
    _Rule("startTime", _when(_starts_again, "field is immutable for unsuspended job once set")),
    _Rule(
        "conditions",
        _when(
            lambda change: change.old.meets_criteria and not change.new.meets_criteria,
            "cannot disable the SuccessCriteriaMet=True condition",
        ),
    ),
    _Rule(
        "conditions",
        _when(
            lambda change: change.old.is_complete and not change.old.meets_criteria and change.new.meets_criteria,
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
        ),
    ),
)

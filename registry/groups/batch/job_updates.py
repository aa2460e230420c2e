"""Job updates: validates an update of a Job: numbers and deadlines may change, and the scheduling of a suspended Job.

Pure. Must hold: both specs are in canonical form.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.conditions import is_true
from aio_apiserver.registry.base.timeline import DEFAULT, Version
from aio_apiserver.registry.base.validation import field, internal
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.object_meta import IMMUTABLE
from aio_apiserver.registry.groups.batch import job_validation

Job = Mapping[str, Any]

_FORMS = {"podFailurePolicy": "batch.PodFailurePolicy", "successPolicy": "batch.SuccessPolicy"}
_OPEN = ("nodeSelector", "tolerations", "schedulingGates")
_CONTAINERS = ("containers", "initContainers")


def validate(new: Job, old: Job, *, changes_resources: bool = True, version: Version = DEFAULT) -> list[FieldError]:
    """The errors of a changed spec, beside those of any spec.

    changes_resources: whether a suspended Job that has run before may change its scheduling, and its resources.
    """
    errors = _validate_completions(new["spec"], old["spec"])
    errors += _validate_unchanged(new["spec"], old["spec"], "selector")
    template = new["spec"]["template"]
    if changes_resources:
        errors += _validate_template(template, old, version)
    else:
        errors += _validate_scheduling(template, old, version)
    for name in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        errors += _validate_unchanged(new["spec"], old["spec"], name)
    return errors


def _validate_unchanged(new: Job, old: Job, name: str) -> list[FieldError]:
    value = new.get(name)
    if value == old.get(name):
        return []
    shown = internal.form(_FORMS[name], value) if name in _FORMS else internal.meta(value)
    return [field.invalid(f"spec.{name}", shown, IMMUTABLE)]


def _validate_completions(new: Job, old: Job) -> list[FieldError]:
    """The error for changed completions. An indexed Job may change them together with parallelism, to the same
    number.
    """
    if not job_validation.is_indexed(new):
        return _validate_unchanged(new, old, "completions")
    completions = new.get("completions")
    if completions in {None, old.get("completions"), new.get("parallelism")}:
        return []
    return [field.invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism")]


def _validate_scheduling(template: Job, old: Job, version: Version) -> list[FieldError]:
    """The error of a template in the minors in which a Job that never ran may change its scheduling alone."""
    before = old["spec"]["template"]
    if old["spec"].get("suspend") and not (old.get("status") or {}).get("startTime"):
        spec = _with_open_scheduling(before["spec"], template["spec"])
        metadata = {
            "labels": template["metadata"].get("labels"),
            "annotations": template["metadata"].get("annotations"),
        }
        kept = {name: one for name, one in (before.get("metadata") or {}).items() if name not in metadata}
        before = {
            **before,
            "metadata": {**kept, **{name: one for name, one in metadata.items() if one is not None}},
            "spec": spec,
        }
    if template == before:
        return []
    return [field.invalid("spec.template", internal.form("core.PodTemplateSpec", template, version), IMMUTABLE)]


def _validate_template(template: Job, old: Job, version: Version) -> list[FieldError]:
    before = old["spec"]["template"]
    if not _is_open(old):
        if template == before:
            return []
        return [field.invalid("spec.template", internal.form("core.PodTemplateSpec", template, version), IMMUTABLE)]
    if template["spec"] == _with_open_parts(before["spec"], template["spec"]):
        return []
    return [field.invalid("spec.template.spec", internal.form("core.PodSpec", template["spec"], version), IMMUTABLE)]


def _is_open(job: Job) -> bool:
    """Whether the Job is suspended and has no active pods."""
    status = job.get("status") or {}
    is_at_rest = not status.get("startTime") or is_true(status, "Suspended")
    return bool(job["spec"].get("suspend")) and is_at_rest and not status.get("active")


def _with_open_parts(old: Job, new: Job) -> Job:
    """The old pod spec with the mutable parts of the new one."""
    expected = _with_open_scheduling(old, new)
    for name in _CONTAINERS:
        containers, before = new.get(name) or (), old.get(name) or ()
        if before and len(containers) == len(before):
            expected[name] = [_with_resources(*pair) for pair in zip(before, containers, strict=True)]
    return expected


def _with_open_scheduling(old: Job, new: Job) -> dict[str, Any]:
    """The old pod spec with the scheduling of the new one."""
    expected = {name: value for name, value in old.items() if name not in {*_OPEN, "affinity"}}
    expected |= {name: new[name] for name in _OPEN if name in new}
    affinity = _affinity(old.get("affinity"), new.get("affinity"))
    if affinity is not None:
        expected["affinity"] = affinity
    return expected


def _affinity(old: Job | None, new: Job | None) -> Job | None:
    """The old pod affinity with the new node affinity."""
    kept = {name: value for name, value in (old or {}).items() if name != "nodeAffinity"}
    if new is None:
        return kept or None
    return kept | {name: value for name, value in new.items() if name == "nodeAffinity"}


def _with_resources(old: Job, new: Job) -> Job:
    if old.get("name") != new.get("name"):
        return old
    kept = {name: value for name, value in old.items() if name != "resources"}
    return kept | {name: value for name, value in new.items() if name == "resources"}

"""Job validation: validates the spec of a Job and the job template of a CronJob, in the order of kube-apiserver's
errors.

Pure. Must hold: a job template without the defaults of Jobs is validated as well.
"""

import re
from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field, label_selectors, names, values
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.batch import job_policies
from aio_apiserver.registry.groups.core.pods import workload_rules
from aio_apiserver.registry.groups.core.pods.validation import templates

Spec = Mapping[str, Any]

INDEXED = "Indexed"
_NON_INDEXED = "NonIndexed"
_LIMIT = 100_000
"""The most indexes that a status can list."""
_LIMIT_OF_MANY = 10_000
_MANY = f"when completions are above {_LIMIT} and used with backoff limit per index"
_NOT_NEGATIVE = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_MANAGER_LIMIT = 63
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_FINITE = ("OnFailure", "Never")


def validate(spec: Spec, context: StrategyContext, *, old: Spec | None = None) -> list[FieldError]:
    """The errors of a Job's spec: those of a job template and those of the selector."""
    path = "spec"
    errors = validate_template(spec, path, context, old=old)
    selector = spec.get("selector")
    if selector is None:
        errors.append(field.required(f"{path}.selector"))
    wrong = label_selectors.validate(selector or {}, f"{path}.selector")
    return errors + wrong + ([] if wrong else workload_rules.validate_selection(spec, path))


def validate_template(spec: Spec, path: str, context: StrategyContext, *, old: Spec | None = None) -> list[FieldError]:
    """The errors of a job template."""
    errors = _validate_numbers(spec, path)
    errors += _validate_manager(spec.get("managedBy"), f"{path}.managedBy")
    errors += _validate_mode(spec, path)
    if spec.get("podFailurePolicy") is not None:
        errors += job_policies.validate_failure(spec, f"{path}.podFailurePolicy")
    if spec.get("successPolicy") is not None:
        errors += job_policies.validate_success(spec, f"{path}.successPolicy", is_indexed=is_indexed(spec))
    errors += job_policies.validate_replacement(spec, f"{path}.podReplacementPolicy")
    before = old["template"] if old else None
    errors += templates.validate_pod_template(
        spec["template"],
        f"{path}.template",
        old=before,
        context=context,
    )
    return errors + _validate_restarts(spec, f"{path}.template.spec.restartPolicy")


def is_indexed(spec: Spec) -> bool:
    """Whether each pod of the Job has an index."""
    return bool(spec.get("completionMode") == INDEXED)


def _validate_numbers(spec: Spec, path: str) -> list[FieldError]:
    errors = values.not_negative(spec, path, _NOT_NEGATIVE)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(field.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    return errors


def _validate_manager(manager: str | None, path: str) -> list[FieldError]:
    """The errors of managedBy, which names another controller: `example.com/manager`."""
    if manager is None:
        return []
    errors = _validate_prefixed_path(manager, path)
    if len(manager.encode()) > _MANAGER_LIMIT:
        errors.append(field.too_long(path, _MANAGER_LIMIT))
    return errors


def _validate_prefixed_path(text: str, path: str) -> list[FieldError]:
    if not text:
        return [field.required(path)]
    domain, _, rest = text.partition("/")
    if not domain or not rest:
        return [field.invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = field.invalid_each(path, domain, names.is_dns_subdomain(domain, False))
    if not re.fullmatch(_PATH, rest):
        errors.append(field.invalid(path, rest, names.regex_error("Invalid path", _PATH)))
    return errors


def _validate_mode(spec: Spec, path: str) -> list[FieldError]:
    mode = spec.get("completionMode")
    if mode == INDEXED:
        return _validate_indexed(spec, path)
    if mode not in {None, _NON_INDEXED}:
        return [field.not_supported(f"{path}.completionMode", mode, (_NON_INDEXED, INDEXED))]
    return [
        field.invalid(f"{path}.{name}", spec[name], "requires indexed completion mode")
        for name in ("backoffLimitPerIndex", "maxFailedIndexes")
        if spec.get(name) is not None
    ]


def _validate_indexed(spec: Spec, path: str) -> list[FieldError]:
    completions, parallelism, most_failed = (
        spec.get("completions"),
        spec.get("parallelism"),
        spec.get("maxFailedIndexes"),
    )
    errors = []
    if completions is None:
        errors.append(field.required(f"{path}.completions", f"when completion mode is {INDEXED}"))
    if parallelism is not None and parallelism > _LIMIT:
        why = f"must be less than or equal to {_LIMIT} when completion mode is {INDEXED}"
        errors.append(field.invalid(f"{path}.parallelism", parallelism, why))
    if most_failed is not None:
        errors += _validate_most_failed(most_failed, completions, f"{path}.maxFailedIndexes")
    if completions is not None and completions > _LIMIT and spec.get("backoffLimitPerIndex") is not None:
        errors += _validate_many(parallelism, most_failed, path)
    return errors


def _validate_most_failed(most_failed: int, completions: int | None, path: str) -> list[FieldError]:
    errors = []
    if completions is not None and most_failed > completions:
        errors.append(field.invalid(path, most_failed, "must be less than or equal to completions"))
    if most_failed > _LIMIT:
        errors.append(field.invalid(path, most_failed, f"must be less than or equal to {_LIMIT}"))
    return errors


def _validate_many(parallelism: int | None, most_failed: int | None, path: str) -> list[FieldError]:
    """The errors for more completions than a status can list, which limit parallelism and maxFailedIndexes."""
    errors = []
    if most_failed is None:
        why = f"must be specified when completions is above {_LIMIT}"
        errors.append(field.required(f"{path}.maxFailedIndexes", why))
    why = f"must be less than or equal to {_LIMIT_OF_MANY} {_MANY}"
    for name, value in (("parallelism", parallelism), ("maxFailedIndexes", most_failed)):
        if value is not None and value > _LIMIT_OF_MANY:
            errors.append(field.invalid(f"{path}.{name}", value, why))
    return errors


def _validate_restarts(spec: Spec, path: str) -> list[FieldError]:
    """The errors of restartPolicy. With Always, a Job would never complete."""
    policy = spec["template"]["spec"].get("restartPolicy", "")
    if policy in {"", "Always"}:
        return [field.required(path, "valid values: " + ", ".join(map(quote, _FINITE)))]
    if policy not in _FINITE:
        return [field.not_supported(path, policy, _FINITE)]
    if spec.get("podFailurePolicy") is not None and policy != "Never":
        return [field.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    return []

"""Job policies: validates podFailurePolicy, successPolicy and podReplacementPolicy of a Job. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.golang.text import quoted
from aio_apiserver.registry.base.validation import field, internal, names, values
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.groups.batch import indexes

Spec = Mapping[str, Any]

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_MOST_RULES = 20
_MOST_EXIT_CODES = 255
_MOST_PATTERNS = 20
_INDEXES_LIMIT = 64 * 1024


def validate_failure(spec: Spec, path: str) -> list[FieldError]:
    """The errors of podFailurePolicy: rules on exit codes or pod conditions."""
    rules = spec["podFailurePolicy"].get("rules") or ()
    errors = _validate_at_most(rules, f"{path}.rules", _MOST_RULES)
    for index, rule in enumerate(rules):
        errors += _validate_failure_rule(spec, rule, f"{path}.rules[{index}]")
    return errors


def validate_success(spec: Spec, path: str, *, is_indexed: bool) -> list[FieldError]:
    """The errors of successPolicy: which indexes, or how many of them, have to succeed."""
    policy = spec["successPolicy"]
    if not is_indexed:
        shown = internal.form("batch.SuccessPolicy", policy)
        return [field.invalid(path, shown, "requires indexed completion mode")]
    rules = policy.get("rules") or ()
    errors = []
    if not rules:
        why = "at least one rules must be specified when the successPolicy is specified"
        errors.append(field.required(f"{path}.rules", why))
    errors += _validate_at_most(rules, f"{path}.rules", _MOST_RULES)
    for index, rule in enumerate(rules):
        errors += _validate_success_rule(rule, spec.get("completions") or 0, f"{path}.rules[{index}]")
    return errors


def validate_replacement(spec: Spec, path: str) -> list[FieldError]:
    """The error of podReplacementPolicy. With a podFailurePolicy, Failed is the one supported value."""
    policy = spec.get("podReplacementPolicy")
    supported = _REPLACEMENTS if spec.get("podFailurePolicy") is None else _REPLACEMENTS[:1]
    return [] if policy is None or policy in supported else [field.not_supported(path, policy, supported)]


def _validate_at_most(elements: Sequence[Any], path: str, limit: int) -> list[FieldError]:
    return [field.too_many(path, len(elements), limit)] if len(elements) > limit else []


def _validate_failure_rule(spec: Spec, rule: Spec, path: str) -> list[FieldError]:
    errors = _validate_action(spec, rule.get("action", ""), f"{path}.action")
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    if codes is not None:
        errors += _validate_exit_codes(spec, codes, f"{path}.onExitCodes")
    errors += _validate_conditions(conditions, f"{path}.onPodConditions")
    if codes is not None and conditions:
        errors.append(_invalid(path, "specifying both OnExitCodes and OnPodConditions is not supported"))
    if codes is None and not conditions:
        errors.append(_invalid(path, "specifying one of OnExitCodes and OnPodConditions is required"))
    return errors


def _validate_action(spec: Spec, action: str, path: str) -> list[FieldError]:
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        return [field.invalid(path, action, "requires the backoffLimitPerIndex to be set")]
    return _validate_word(action, path, _ACTIONS)


def _validate_exit_codes(spec: Spec, codes: Spec, path: str) -> list[FieldError]:
    operator, container = codes.get("operator", ""), codes.get("containerName")
    errors = _validate_word(operator, f"{path}.operator", _OPERATORS)
    if container is not None and container not in _container_names(spec["template"]["spec"]):
        why = "must be one of the container or initContainer names in the pod template"
        errors.append(field.invalid(f"{path}.containerName", container, why))
    return errors + _validate_code_values(codes.get("values"), operator, f"{path}.values")


def _validate_code_values(codes: Sequence[int] | None, operator: str, path: str) -> list[FieldError]:
    if not codes:
        return [field.invalid(path, codes, "at least one value is required")]
    errors = _validate_at_most(codes, path, _MOST_EXIT_CODES)
    seen: set[int] = set()
    for index, code in enumerate(codes):
        if operator == "In" and code == 0:
            errors.append(field.invalid(f"{path}[{index}]", code, "must not be 0 for the In operator"))
        if code in seen:
            errors.append(field.duplicate(f"{path}[{index}]", code))
        seen.add(code)
    if list(codes) != sorted(codes):
        errors.append(field.invalid(path, codes, "must be ordered"))
    return errors


def _container_names(pod: Spec) -> set[str]:
    return {one.get("name", "") for name in ("containers", "initContainers") for one in pod.get(name) or ()}


def _validate_conditions(conditions: Sequence[Spec], path: str) -> list[FieldError]:
    errors = _validate_at_most(conditions, path, _MOST_PATTERNS)
    for index, condition in enumerate(conditions):
        kind, place = condition.get("type", ""), f"{path}[{index}]"
        errors += field.invalid_each(f"{place}.type", kind, names.check_qualified_name(kind))
        errors += _validate_word(condition.get("status", ""), f"{place}.status", _STATUSES)
    return errors


def _validate_word(word: str, path: str, supported: Sequence[str]) -> list[FieldError]:
    if not word:
        return [field.required(path, f"valid values: {quoted(supported)}")]
    return [] if word in supported else [field.not_supported(path, word, supported)]


def _validate_success_rule(rule: Spec, completions: int, path: str) -> list[FieldError]:
    wanted, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    errors, total = [], 0
    if wanted is None and count is None:
        why = "at least one of succeededCount or succeededIndexes must be specified"
        errors.append(field.required(path, why))
    if wanted is not None:
        if len(wanted.encode()) > _INDEXES_LIMIT:
            errors.append(field.too_long(f"{path}.succeededIndexes", _INDEXES_LIMIT))
        try:
            total = indexes.parse(wanted, completions)
        except indexes.InvalidIndexes as exc:
            why = f"error parsing succeededIndexes: {exc}"
            errors.append(field.invalid(f"{path}.succeededIndexes", wanted, why))
    if count is not None:
        named = None if wanted is None else total
        errors += _validate_count(rule, count, path, completions=completions, named=named)
    return errors


def _validate_count(rule: Spec, count: int, path: str, *, completions: int, named: int | None) -> list[FieldError]:
    errors = values.not_negative(rule, path, ("succeededCount",))
    limits = (
        (completions, "the number of specified completions"),
        (named, "the number of indexes in the specified succeededIndexes field"),
    )
    for limit, meaning in limits:
        if limit is not None and count > limit:
            why = f"must be less than or equal to {limit} ({meaning})"
            errors.append(field.invalid(f"{path}.succeededCount", count, why))
    return errors


def _invalid(path: str, why: str) -> FieldError:
    """An error without a value, for a whole rule."""
    return FieldError(ErrorType.INVALID, path, detail=why)

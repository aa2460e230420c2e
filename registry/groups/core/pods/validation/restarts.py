"""Restarts: validates restart policies, restart rules on exit codes, and resize policies. Pure."""

from collections.abc import Sequence

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.validation import rules
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_POLICIES = ("Always", "Never", "OnFailure")
_ACTIONS = ("Restart", "RestartAllContainers")
_OPERATORS = ("In", "NotIn")
_MOST_RULES = 20
_MOST_CODES = 255
_RESOURCES = ("cpu", "memory")
_ON_RESIZE = ("NotRequired", "RestartContainer")
_NEEDS_POLICY = "must specify restartPolicy when restart rules are used"


def is_sidecar(container: Obj) -> bool:
    """Whether an init container is a sidecar, which keeps running beside the others."""
    return container.get("restartPolicy") == "Always"


def validate(container: Obj, path: str) -> Errors:
    """The errors of a container's restart policy and its restart rules."""
    policy, all_rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None:
        errors = [field.required(f"{path}.restartPolicy", _NEEDS_POLICY)] if all_rules else []
    else:
        errors = rules.word(container, path, "restartPolicy", _POLICIES)
    return errors + _validate_rules(all_rules, f"{path}.restartPolicyRules") if all_rules else errors


def validate_of_init_container(container: Obj, path: str) -> Errors:
    """The same errors for an init container. Rules without a policy are not validated further."""
    if container.get("restartPolicy") is not None:
        return validate(container, path)
    return [field.required(f"{path}.restartPolicy", _NEEDS_POLICY)] if container.get("restartPolicyRules") else []


def _validate_rules(all_rules: Sequence[Obj], path: str) -> Errors:
    count = len(all_rules)
    errors = [field.too_many(path, count, _MOST_RULES)] if count > _MOST_RULES else []
    for index, rule in enumerate(all_rules):
        here, codes = f"{path}[{index}]", rule.get("exitCodes")
        if rule.get("action", "") not in _ACTIONS:
            errors.append(field.not_supported(f"{here}.action", rule.get("action", ""), _ACTIONS))
        if codes is None:
            errors.append(field.required(f"{here}.exitCodes", "must be specified"))
        else:
            errors += _validate_codes(codes, f"{here}.exitCodes")
    return errors


def _validate_codes(codes: Obj, path: str) -> Errors:
    operator, count = codes.get("operator", ""), len(codes.get("values") or ())
    errors = [] if operator in _OPERATORS else [field.not_supported(f"{path}.operator", operator, _OPERATORS)]
    if count > _MOST_CODES:
        errors.append(field.too_many(f"{path}.values", count, _MOST_CODES))
    return errors


def validate_on_resize(policies: Sequence[Obj], path: str, *, pod_policy: str) -> Errors:
    """The errors of resizePolicy, with one entry for each resource."""
    errors: Errors = []
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in seen:
            errors.append(field.duplicate(f"{path}[{index}]", name))
        seen.add(name)
        errors += _validate_word(name, path, _RESOURCES) + _validate_word(restart, path, _ON_RESIZE)
        if pod_policy == "Never" and restart != "NotRequired":
            why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            errors.append(field.invalid(path, restart, why))
    return errors


def _validate_word(value: str, path: str, supported: Sequence[str]) -> Errors:
    if not value:
        return [field.required(path)]
    return [] if value in supported else [field.not_supported(path, value, supported)]

"""Policies: the CEL and match rules that validating and mutating policies and their bindings share. Pure."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from aio_apiserver.registry.base.validation import domains, field, label_selectors, values
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1035_LABEL, DNS1123_SUBDOMAIN
from aio_apiserver.registry.groups.admissionregistration import expressions, rules
from aio_apiserver.registry.groups.admissionregistration.webhooks import FAILURE_POLICIES, MATCH_POLICIES, SELECTORS
from aio_apiserver.registry.machinery.cel.names import is_identifier

if TYPE_CHECKING:
    from aio_apiserver.registry.generic.expressions.admission import Composition

Part = Mapping[str, Any]

_NOT_FOUND_ACTIONS = ("Deny", "Allow")


def validate_head(spec: Part) -> list[FieldError]:
    """The errors of failurePolicy, paramKind and matchConstraints."""
    errors = _validate_word(spec, "spec", "failurePolicy", FAILURE_POLICIES)
    if spec.get("paramKind") is not None:
        errors += _validate_param_kind(spec["paramKind"], "spec.paramKind")
    match = spec.get("matchConstraints")
    if match is None:
        return [*errors, field.required("spec.matchConstraints")]
    errors += validate_match(match, "spec.matchConstraints")
    has_rules = bool(match.get("resourceRules"))
    return errors if has_rules else [*errors, field.required("spec.matchConstraints.resourceRules")]


def _validate_word(part: Part, path: str, name: str, supported: Sequence[str]) -> list[FieldError]:
    """The errors of a required word. An empty word differs from a missing one."""
    if part.get(name) is None:
        return [field.required(f"{path}.{name}")]
    return [] if part[name] in supported else [field.not_supported(f"{path}.{name}", part[name], supported)]


def _validate_param_kind(kind: Part, path: str) -> list[FieldError]:
    version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    errors = (
        _validate_group_version(version, f"{path}.apiVersion") if version else [field.required(f"{path}.apiVersion")]
    )
    if not name:
        return [*errors, field.required(f"{path}.kind")]
    if messages := DNS1035_LABEL.check(name.lower()):
        why = "may have mixed case, but should otherwise match: " + ",".join(messages)
        errors.append(field.invalid(f"{path}.kind", name, why))
    return errors


def _validate_group_version(text: str, path: str) -> list[FieldError]:
    if text.count("/") > 1:
        return [field.invalid(path, text, f"unexpected GroupVersion string: {text}")]
    group, _, version = text.rpartition("/") if text != "/" else ("", "", "")
    errors = []
    if group and (messages := DNS1123_SUBDOMAIN.check(group)):
        errors.append(field.invalid(path, group, ",".join(messages)))
    if not version:
        return [*errors, field.invalid(path, text, "version must be specified")]
    if messages := DNS1035_LABEL.check(version):
        errors.append(field.invalid(path, version, ",".join(messages)))
    return errors


def validate_match(match: Part | None, path: str) -> list[FieldError]:
    """The errors of matchConstraints or matchResources; none when it is missing."""
    if match is None:
        return []
    errors = _validate_word(match, path, "matchPolicy", MATCH_POLICIES)
    for name in SELECTORS:
        selector, here = match.get(name), f"{path}.{name}"
        errors += [field.required(here)] if selector is None else label_selectors.validate(selector, here)
    for name in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(name) or ()):
            errors += rules.validate_named(rule, f"{path}.{name}[{index}]")
    return errors


def validate_mutable(match: Part | None, path: str) -> list[FieldError]:
    """The errors for operations that a mutating policy does not support."""
    return [
        field.not_supported(f"{path}.resourceRules.operations", operation, rules.MUTATING_OPERATIONS)
        for rule in (match or {}).get("resourceRules") or ()
        for operation in rule.get("operations") or ()
        if operation not in rules.MUTATING_OPERATIONS
    ]


def validate_match_conditions(spec: Part, old: Part | None) -> list[FieldError]:
    """The errors of matchConditions, unless conditions and paramKind are unchanged."""
    is_same = old is not None and all(
        (spec.get(name) or None) == (old.get(name) or None) for name in ("paramKind", "matchConditions")
    )
    if is_same:
        return []
    conditions, has_params = spec.get("matchConditions") or (), spec.get("paramKind") is not None
    return expressions.validate_conditions(conditions, "spec.matchConditions", has_params=has_params)


def validate_variables(variables: Sequence[Part], path: str, composition: "Composition") -> list[FieldError]:
    """The errors of variables, which later expressions can use."""
    errors = []
    for index, variable in enumerate(variables):
        name, here = variable.get("name") or "", f"{path}[{index}]"
        if not name.strip():
            errors.append(field.required(f"{here}.name", "name is not specified"))
        elif not is_identifier(name):
            errors.append(field.invalid(f"{here}.name", name, "must be a valid CEL identifier"))
        expression = variable.get("expression") or ""
        errors += expressions.validate(
            expression,
            f"{here}.expression",
            partial(composition.variable, name),
            missing="expression is not specified",
        )
    return errors


def validate_binding(spec: Part) -> list[FieldError]:
    """The errors of a binding: policyName, paramRef and matchResources."""
    path, name = "spec.policyName", spec.get("policyName") or ""
    errors = domains.validate_format(name, DNS1123_SUBDOMAIN, path) if name else [field.required(path)]
    if spec.get("paramRef") is not None:
        errors += _validate_param_ref(spec["paramRef"], "spec.paramRef")
    return errors + validate_match(spec.get("matchResources"), "spec.matchResources")


def _validate_param_ref(reference: Part, path: str) -> list[FieldError]:
    errors, name, selector = [], reference.get("name") or "", reference.get("selector")
    is_both = bool(name) and selector is not None
    both = "name and selector are mutually exclusive"
    if name:
        errors += domains.validate_segment(name, f"{path}.name")
        errors += [field.forbidden(f"{path}.name", both)] if is_both else []
    if selector is not None:
        errors += label_selectors.validate(selector, f"{path}.selector")
        errors += [field.forbidden(f"{path}.selector", both)] if is_both else []
    if not name and selector is None:
        errors.append(field.required(path, "one of name or selector must be specified"))
    return errors + values.required_one_of(reference, path, "parameterNotFoundAction", _NOT_FOUND_ACTIONS)

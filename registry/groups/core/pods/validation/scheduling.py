"""Scheduling: validates tolerations, topology spread constraints, scheduling gates and resource claims. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field, internal, label_selectors, names
from aio_apiserver.registry.groups.core.pods.validation import affinity, rules
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a mirror pod, which a kubelet creates for a static pod."""

_OPERATORS = ("Equal", "Exists")
_COMPARING = ("Lt", "Gt")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_NODE_POLICIES = ("Honor", "Ignore")
_ALL_KEYS = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'


def validate_tolerations(tolerations: Sequence[Obj], path: str) -> Errors:
    """The errors of tolerations."""
    errors: Errors = []
    for index, toleration in enumerate(tolerations):
        errors += _validate_toleration(toleration, f"{path}[{index}]")
    return errors


def _validate_toleration(toleration: Obj, path: str) -> Errors:
    key, operator = toleration.get("key", ""), toleration.get("operator") or ""
    effect, value = toleration.get("effect") or "", toleration.get("value") or ""
    errors = rules.qualified_name(key, f"{path}.key") if key else []
    if not key and operator != "Exists":
        errors.append(field.invalid(f"{path}.operator", operator, _ALL_KEYS))
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        errors.append(field.invalid(f"{path}.effect", effect, why))
    errors += _validate_value(operator, value, f"{path}.operator")
    if effect and effect not in _EFFECTS:
        errors.append(field.not_supported(f"{path}.effect", effect, _EFFECTS))
    return errors


def _validate_value(operator: str, value: str, path: str) -> Errors:
    if operator in {"", "Equal"}:
        messages = names.check_label_value(value)
        return [field.invalid(path, value, ";".join(messages))] if messages else []
    if operator == "Exists":
        return [field.invalid(path, value, "value must be empty when `operator` is 'Exists'")] if value else []
    supported = (*_OPERATORS, *_COMPARING) if operator in _COMPARING else _OPERATORS
    return [field.not_supported(path, operator, supported)]


def validate_spread(constraints: Sequence[Obj], path: str, *, options: PodOptions) -> Errors:
    """The errors of topology spread constraints."""
    errors: Errors = []
    left = Counter(map(_pair, constraints))
    for index, constraint in enumerate(constraints):
        here, pair = f"{path}[{index}]", _pair(constraint)
        left[pair] -= 1
        errors += _validate_constraint(constraint, here, comes_again=left[pair] > 0)
        match, selector = constraint.get("matchLabelKeys") or (), constraint.get("labelSelector")
        if options.has_old_spread_keys:
            errors += validate_old_spread_keys(match, f"{here}.matchLabelKeys", selector)
        else:
            errors += affinity.validate_label_keys(here, match=match, selector=selector)
        if selector is not None and not options.allows_any_spread_selector:
            errors += label_selectors.validate(selector, f"{here}.labelSelector")
    return errors


def _validate_constraint(constraint: Obj, path: str, *, comes_again: bool) -> Errors:
    skew, action = constraint.get("maxSkew") or 0, constraint.get("whenUnsatisfiable", "")
    errors = [] if skew > 0 else [field.invalid(f"{path}.maxSkew", skew, "must be greater than zero")]
    if not constraint.get("topologyKey"):
        errors.append(field.required(f"{path}.topologyKey", "can not be empty"))
    if action not in _ACTIONS:
        errors.append(field.not_supported(f"{path}.whenUnsatisfiable", action, _ACTIONS))
    pair = _pair(constraint)
    if comes_again:
        errors.append(field.duplicate(f"{path}.{{topologyKey, whenUnsatisfiable}}", f"{{{pair[0]}, {pair[1]}}}"))
    errors += _validate_min_domains(constraint.get("minDomains"), action, f"{path}.minDomains")
    for member in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        errors += rules.word(constraint, path, member, _NODE_POLICIES)
    return errors


def _pair(constraint: Obj) -> tuple[str, str]:
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def _validate_min_domains(domains: int | None, action: str, path: str) -> Errors:
    if domains is None:
        return []
    errors = [] if domains > 0 else [field.invalid(path, domains, "must be greater than zero")]
    if action != "DoNotSchedule":
        why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(field.invalid(path, domains, why))
    return errors


def validate_old_spread_keys(keys: Sequence[str], path: str, selector: Mapping[str, Any] | None) -> Errors:
    """The errors of matchLabelKeys in objects from before v1.34, whose keys are not in the selector."""
    if not keys:
        return []
    errors: Errors = []
    if selector is None:
        errors.append(field.forbidden(path, "must not be specified when labelSelector is not set"))
    known = set(rules.member(selector, "matchLabels"))
    known |= {one.get("key", "") for one in (selector or {}).get("matchExpressions") or ()}
    for index, key in enumerate(keys):
        errors += rules.qualified_name(key, f"{path}[{index}]")
        if key in known:
            why = "exists in both matchLabelKeys and labelSelector"
            errors.append(field.invalid(f"{path}[{index}]", key, why))
    return errors


def validate_gates(gates: Sequence[Obj], path: str) -> Errors:
    """The errors of scheduling gates, whose names are unique."""
    errors: Errors = []
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        errors += rules.qualified_name(name, f"{path}[{index}]")
        if name in seen:
            errors.append(field.duplicate(f"{path}[{index}]", name))
        seen.add(name)
    return errors


def validate_claims(claims: Sequence[Obj], path: str, *, pod: Mapping[str, Any] | None) -> Errors:
    """The errors of resource claims. `pod` is the metadata of a pod, None for a template."""
    is_mirror = MIRROR in ((pod or {}).get("annotations") or {})
    errors: Errors = []
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        if is_mirror:
            errors.append(field.forbidden("[]", "static pods do not support resource claims"))
        else:
            errors += _validate_claim(claim, f"{path}[{index}]", seen)
    return errors


def _validate_claim(claim: Obj, path: str, seen: set[str]) -> Errors:
    name = claim.get("name", "")
    if not name:
        errors = [field.required(f"{path}.name")]
    elif name in seen:
        errors = [field.duplicate(f"{path}.name", name)]
    else:
        errors = rules.label(name, f"{path}.name")
        seen.add(name)
    members = ("resourceClaimName", "resourceClaimTemplateName")
    given = [member for member in members if claim.get(member) is not None]
    if len(given) != 1:
        why = (
            "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            if given
            else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        )
        errors.append(field.invalid(path, internal.form("core.PodResourceClaim", claim), why))
    for member in given:
        errors += rules.subdomain(claim[member], f"{path}.{member}")
    return errors

"""Validation: validates RBAC rules, subjects and role references. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.internal import form
from aio_apiserver.registry.generic.error_history import ErrorRow, since, unchanged, worded

GROUP = "rbac.authorization.k8s.io"

_SUBJECT_KINDS = ("ServiceAccount", "User", "Group")
_MIXED = "rules cannot apply to both regular resources and non-resource URLs"
_NAMESPACED = "namespaced rules cannot apply to non-resource URLs"


def validate_rules(role: Object, *, is_namespaced: bool) -> list[FieldError]:
    """The errors of the rules of a role."""
    errors: list[FieldError] = []
    for index, rule in enumerate(role.get("rules") or ()):
        errors += _validate_rule(rule, f"rules[{index}]", is_namespaced=is_namespaced)
    return errors


def _validate_rule(rule: Mapping[str, Any], path: str, *, is_namespaced: bool) -> list[FieldError]:
    errors = []
    if not rule.get("verbs"):
        errors.append(field.required(f"{path}.verbs", "verbs must contain at least one value"))
    if urls := rule.get("nonResourceURLs"):
        if is_namespaced:
            errors.append(field.invalid(f"{path}.nonResourceURLs", urls, _NAMESPACED))
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            errors.append(field.invalid(f"{path}.nonResourceURLs", urls, _MIXED))
        return errors
    if not rule.get("apiGroups"):
        errors.append(field.required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        errors.append(field.required(f"{path}.resources", "resource rules must supply at least one resource"))
    return errors


def default_binding(binding: Object) -> None:
    """Set the missing API groups of the roleRef, and of users and groups."""
    role_ref = binding["roleRef"] = binding.get("roleRef") or {}
    if not role_ref.get("apiGroup"):
        role_ref["apiGroup"] = GROUP
    for subject in binding.get("subjects") or ():
        if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = GROUP


def validate_binding(binding: Object, *, role_kinds: Sequence[str]) -> list[FieldError]:
    """The errors of a binding to roles of these kinds."""
    errors = _validate_role_ref(binding.get("roleRef") or {}, role_kinds)
    for index, subject in enumerate(binding.get("subjects") or ()):
        errors += _validate_subject(subject, f"subjects[{index}]", has_namespace="Role" in role_kinds)
    return errors


def validate_same_role(new: Object, old: Object) -> list[FieldError]:
    """The error for a changed roleRef, which is immutable."""
    shown = form("rbac.RoleRef", new.get("roleRef") or {})
    if shown == form("rbac.RoleRef", old.get("roleRef") or {}):
        return []
    return [field.invalid("roleRef", shown, "cannot change roleRef")]


def _validate_role_ref(role_ref: Mapping[str, Any], role_kinds: Sequence[str]) -> list[FieldError]:
    errors = _validate_group(role_ref, "roleRef", GROUP)
    if role_ref.get("kind", "") not in role_kinds:
        errors.append(field.not_supported("roleRef.kind", role_ref.get("kind", ""), role_kinds))
    name = role_ref.get("name", "")
    if not name:
        return [*errors, field.required("roleRef.name")]
    return errors + field.invalid_each("roleRef.name", name, names.is_path_segment(name, False))


def _validate_subject(subject: Mapping[str, Any], path: str, *, has_namespace: bool) -> list[FieldError]:
    name, kind = subject.get("name", ""), subject.get("kind", "")
    errors = [] if name else [field.required(f"{path}.name")]
    if kind == "ServiceAccount":
        if name:
            errors += field.invalid_each(f"{path}.name", name, names.is_dns_subdomain(name, False))
        errors += _validate_group(subject, path, "")
        if not has_namespace and not subject.get("namespace"):
            errors.append(field.required(f"{path}.namespace"))
    elif kind in _SUBJECT_KINDS:
        errors += _validate_group(subject, path, GROUP)
    else:
        errors.append(field.not_supported(f"{path}.kind", kind, _SUBJECT_KINDS))
    return errors


def _validate_group(reference: Mapping[str, Any], path: str, wanted: str) -> list[FieldError]:
    given = reference.get("apiGroup", "")
    return [] if given == wanted else [field.not_supported(f"{path}.apiGroup", given, (wanted,))]


ROLE_ERRORS: Sequence[ErrorRow] = (
    since((1, 37), r"rules\[\d+\]\.verbs", worded(""), type=field.ErrorType.REQUIRED, is_last=True),
)
BINDING_ERRORS: Sequence[ErrorRow] = (
    since((1, 37), "roleRef", worded("field is immutable"), detail="cannot change roleRef"),
    since((1, 37), r"subjects\[\d+\]\.name", unchanged, type=field.ErrorType.REQUIRED, is_last=True),
)
"""The errors that are different in some minors."""

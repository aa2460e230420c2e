"""Validation: validates access reviews. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field, label_selectors
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.internal import form
from aio_apiserver.registry.base.validation.names import check_qualified_name
from aio_apiserver.registry.generic.error_history import ErrorRow, since

_BOTH = "cannot be specified in combination with resourceAttributes"
_NEITHER = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_NO_SUBJECT = "at least one of user or group must be specified"
_NO_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
_ANY_VALUES = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_TWICE = "may not specified at the same time as requirements"

ERRORS: Sequence[ErrorRow] = (
    since(
        (1, 37),
        "spec\\.(nonR|r)esourceAttributes",
        lambda error: (field.invalid("spec", error.value, _NEITHER),),
        detail=f"{_NEITHER}|{_BOTH}",
    ),
)
"""The errors that are different in some minors."""


def validate_self(review: Object) -> list[FieldError]:
    """The errors of a SelfSubjectAccessReview."""
    return _validate_attributes(review.get("spec") or {}) + _validate_metadata(review)


def validate_subject(review: Object) -> list[FieldError]:
    """The errors of a SubjectAccessReview."""
    return _validate_spec(review) + _validate_metadata(review)


def validate_local(review: Object) -> list[FieldError]:
    """The errors of a LocalSubjectAccessReview."""
    spec, namespace = review.get("spec") or {}, review["metadata"].get("namespace", "")
    errors = _validate_spec(review)
    errors += _validate_metadata(review, but="namespace", detail="must be empty except for namespace")
    requested = spec.get("resourceAttributes")
    if requested is not None and requested.get("namespace", "") != namespace:
        path = "spec.resourceAttributes.namespace"
        errors.append(field.invalid(path, requested.get("namespace", ""), "must match metadata.namespace"))
    if (path_asked := spec.get("nonResourceAttributes")) is not None:
        shown = form("authorization.NonResourceAttributes", path_asked)
        errors.append(field.invalid("spec.nonResourceAttributes", shown, "disallowed on this kind of request"))
    return errors


def _validate_spec(review: Object) -> list[FieldError]:
    spec = review.get("spec") or {}
    errors = _validate_which(spec)
    if not spec.get("user") and not spec.get("groups"):
        errors.append(field.invalid("spec.user", "", _NO_SUBJECT))
    return errors + _validate_selectors(spec)


def _validate_attributes(spec: Mapping[str, Any]) -> list[FieldError]:
    return _validate_which(spec) + _validate_selectors(spec)


def _validate_which(spec: Mapping[str, Any]) -> list[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        shown = form("authorization.NonResourceAttributes", path)
        return [field.invalid("spec.nonResourceAttributes", shown, _BOTH)]
    return [field.invalid("spec.resourceAttributes", None, _NEITHER)] if resource is path is None else []


def _validate_selectors(spec: Mapping[str, Any]) -> list[FieldError]:
    requested, path = spec.get("resourceAttributes") or {}, "spec.resourceAttributes"
    return [
        error
        for name in ("fieldSelector", "labelSelector")
        if requested.get(name) is not None
        for error in _validate_selector(requested[name], f"{path}.{name}", is_of_fields=name == "fieldSelector")
    ]


def _validate_selector(selector: Mapping[str, Any], path: str, *, is_of_fields: bool) -> list[FieldError]:
    text, requirements = selector.get("rawSelector", ""), selector.get("requirements") or ()
    errors = []
    if text and requirements:
        errors.append(field.invalid(f"{path}.rawSelector", text, _TWICE))
    if not text and not requirements:
        detail = f"when {path} is specified, requirements or rawSelector is required"
        errors.append(field.required(f"{path}.requirements", detail))
    for index, requirement in enumerate(requirements):
        place = f"{path}.requirements[{index}]"
        validate = _validate_field_requirement if is_of_fields else _validate_label_requirement
        errors += validate(requirement, place)
    return errors


def _validate_field_requirement(requirement: Mapping[str, Any], path: str) -> list[FieldError]:
    errors = [] if requirement.get("key") else [field.required(f"{path}.key", "must be specified")]
    return errors + _validate_values(requirement, path)


def _validate_label_requirement(requirement: Mapping[str, Any], path: str) -> list[FieldError]:
    key = requirement.get("key", "")
    errors = _validate_values(requirement, path)
    errors += field.invalid_each(f"{path}.key", key, check_qualified_name(key))
    return errors + label_selectors.validate_values(requirement.get("values") or (), f"{path}.values")


def _validate_values(requirement: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors of values. Unknown operators are accepted, because newer clients may use them."""
    operator, has_values = requirement.get("operator", ""), bool(requirement.get("values"))
    if operator in ("In", "NotIn") and not has_values:
        return [field.required(f"{path}.values", _NO_VALUES)]
    if operator in ("Exists", "DoesNotExist") and has_values:
        return [field.forbidden(f"{path}.values", _ANY_VALUES)]
    return []


def _validate_metadata(review: Object, *, but: str = "", detail: str = "must be empty") -> list[FieldError]:
    metadata = review["metadata"]
    if not any(value for name, value in metadata.items() if name not in (but, "managedFields")):
        return []
    shown = form("authorization.SubjectAccessReview", {"metadata": metadata})
    return [field.invalid("metadata", {name: shown[name] for name in shown if name[0].islower()}, detail)]

"""The rules of CustomResourceDefinitions."""

from registry.validation.field import FieldError
from storage.stored_object import Object


def validate(crd: Object) -> list[FieldError]:
    """What is wrong with a new definition."""
    return []


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """What is wrong with a changed definition."""
    return []


def validate_status(crd: Object) -> list[FieldError]:
    """What is wrong with a changed status."""
    return []


def format_warnings(new: Object, old: Object | None) -> list[str]:
    """Formats that mean nothing."""
    return []

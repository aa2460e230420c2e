"""Errors: turns field errors into the one Invalid status that carries them."""

from collections.abc import Sequence

from aio_apiserver.registry.base.errors import Cause, Invalid
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation.field import FieldError


def invalid_of(kind: GroupKind, name: str, errors: Sequence[FieldError]) -> Invalid:
    """Invalid with one cause for each field error."""
    return Invalid(
        kind, name, [Cause(error.type.reason, error.body, error.path) for error in errors[: Invalid.most_causes]]
    )

"""Parameters: validates the names of provisioners and the parameters of storage classes. Pure."""

from collections.abc import Mapping

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError

_MAX_BYTES = 256 * 1024
_MAX_COUNT = 512


def validate_provisioner(name: str, path: str) -> list[FieldError]:
    """The errors of a provisioner, which is a qualified name in any case."""
    if not name:
        return [field.required(path)]
    lowered = name.lower()
    return field.invalid_each(path, lowered, names.check_qualified_name(lowered))


def validate_parameters(parameters: Mapping[str, str], path: str, *, is_required: bool) -> list[FieldError]:
    """The errors of parameters: empty keys, too many keys, too many bytes."""
    if len(parameters) > _MAX_COUNT:
        return [field.too_long(path, _MAX_COUNT)]
    errors = [field.invalid(path, key, "field can not be empty.") for key in parameters if not key]
    if sum(len(key.encode()) + len((value or "").encode()) for key, value in parameters.items()) > _MAX_BYTES:
        errors.append(field.too_long(path, _MAX_BYTES))
    if is_required and not parameters:
        errors.append(field.required(path, "must contain at least one key/value pair"))
    return errors

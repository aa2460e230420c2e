"""Structure: the condition NonStructuralSchema, for definitions from old clusters.

Pure. Must hold: a definition that is accepted today does not have the condition, and costs no validation here.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aio_apiserver.base.budget import SLICE, Budget, BudgetExceeded
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.conditions import Condition
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.apiextensions.definitions import crd_conditions
from aio_apiserver.registry.machinery.schema.model import Schema

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.apiextensions.validation import structural_validation
else:
    structural_validation = Deferred("aio_apiserver.registry.groups.apiextensions.validation.structural_validation")


def condition_of(crd: Object) -> Condition | None:
    """The condition; None for a definition that prunes, since its schemas are structural."""
    if not crd["spec"].get("preserveUnknownFields"):
        return None
    found = [field.invalid("spec.preserveUnknownFields", True, "must be false")]
    for index, version, schema in _schemas(crd):
        unsupported = structural_validation.unsupported(schema)
        if unsupported:
            message = f"failed to check validation schema for version {version}: {unsupported}"
            return _condition(status="Unknown", reason="StructuralError", message=message)
        try:
            found += structural_validation.validate(
                schema, f"spec.versions[{index}].schema.openAPIV3Schema", Budget(SLICE)
            )
        except BudgetExceeded:
            message = f"the validation schema for version {version} takes too long to check"
            return _condition(status="Unknown", reason="StructuralError", message=message)
    return _condition(status="True", reason="Violations", message=errors.aggregate(map(str, found)))


def _schemas(crd: Object) -> Iterator[tuple[int, str, Schema]]:
    versions: list[dict[str, Any]] = crd["spec"].get("versions") or []
    for index, version in enumerate(versions):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None:
            yield index, version["name"], schema


def _condition(*, status: str, reason: str, message: str) -> Condition:
    return crd_conditions.condition(crd_conditions.NON_STRUCTURAL, status=status, reason=reason, message=message)

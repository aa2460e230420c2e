"""Object validation: validates custom resources of one version by schema, subresources and CEL rules.

CEL rules run last, and when no earlier error breaks their assumptions. Must hold: an update may keep the errors of
parts that it does not change. Values are validated within a budget, which is that of a slice on the event loop.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec import field as member
from msgspec.structs import replace

from aio_apiserver.base.budget import SLICE, Budget, BudgetExceeded
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.worker_thread import TakesLong
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.base.validation.object_meta import STANDARD_FINALIZERS
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_metrics import RuleRecorder
from aio_apiserver.registry.groups.apiextensions.serving import scale_validation
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import embedded, lists
from aio_apiserver.registry.machinery.schema.validation import values
from aio_apiserver.registry.machinery.schema.validation.correlation import Correlated

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.apiextensions.cel_rules import rules
else:
    rules = Deferred("aio_apiserver.registry.groups.apiextensions.cel_rules.rules")

_BLOCKING = frozenset(
    {ErrorType.NOT_SUPPORTED, ErrorType.REQUIRED, ErrorType.TOO_LONG, ErrorType.TOO_MANY, ErrorType.TYPE_INVALID}
)
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


_TAKES_LONG = f"the schema and the value together need more than {values.LIMITS.steps} steps to validate"
_WITHOUT_VALUES = frozenset({ErrorType.FORBIDDEN, ErrorType.REQUIRED})
_TYPE_NAMES: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean", float: "number"}
Warn = Callable[[str], None]


def _ignore(_warning: str) -> None:
    """Drop warnings. A new object has no old errors to warn of."""


class ObjectRules(Struct, frozen=True, kw_only=True):
    """`type_meta` is apiVersion and kind of the version. `scale` is the scale subresource of the definition.

    shows_values: whether the errors of CEL rules show values, as since 1.35; otherwise they show types.

    Without `may_take_long`, validation runs in the event loop. It then raises TakesLong when it would take too long.
    """

    type: CustomType
    type_meta: Mapping[str, str]
    scale: Mapping[str, Any] | None = None
    shows_values: bool = True
    recorder: RuleRecorder = member(default_factory=RuleRecorder)

    def validate(self, obj: Object, *, may_take_long: bool) -> list[FieldError]:
        """The errors of a new object."""
        found = self._values(self._typed(obj), self.type.schema or {}, None, may_take_long=may_take_long)
        found += scale_validation.validate_spec(obj, self.scale) + scale_validation.validate_status(obj, self.scale)
        found += self._beyond_values(obj)
        # The check of its metadata tells it.
        unnamed = () if obj["metadata"].get("name") else (field.required("metadata.name"),)
        return found + self._rules((*found, *unnamed), obj, None, _ignore, may_take_long=may_take_long)

    def validate_another_kind(self, obj: Object, wrong: FieldError, *, may_take_long: bool) -> list[FieldError]:
        """The errors of an object that states another kind: `wrong` for its kind, and none for values and metadata."""
        found = [wrong, *self._beyond_values(obj)]
        return found + self._rules(found, obj, None, _ignore, may_take_long=may_take_long)

    def _beyond_values(self, obj: Object) -> list[FieldError]:
        """The errors of embedded objects and lists."""
        return embedded.validate_embedded(obj, self.type.schema, self.type.metadata) + self._lists(obj)

    def validate_update(self, new: Object, old: Object, warn: Warn, *, may_take_long: bool) -> list[FieldError]:
        """The errors of a changed object. `warn` gets the failures that the old object has as well."""
        schema = self.type.schema or {}
        typed = self._typed(new)
        same = Correlated(typed, self._typed(old), schema)
        found = self._values(typed, schema, same, may_take_long=may_take_long)
        found += scale_validation.validate_spec(new, self.scale) + scale_validation.validate_status(new, self.scale)
        found += embedded.validate_embedded(new, self.type.schema, self.type.metadata)
        found += self._changed_lists(new, old)
        return found + self._rules(found, new, old, warn, may_take_long=may_take_long)

    def validate_status_update(self, new: Object, old: Object, warn: Warn, *, may_take_long: bool) -> list[FieldError]:
        """The errors of a changed status."""
        found: list[FieldError] = []
        schema = ((self.type.schema or {}).get("properties") or {}).get("status")
        if schema is not None and "status" in new:
            was = Correlated(new["status"], old.get("status"), schema)
            found += self._values(new["status"], schema, was, path="status", may_take_long=may_take_long)
        found += scale_validation.validate_status(new, self.scale)
        found += self._changed_lists(new, old)
        return found + self._rules(found, new, old, warn, may_take_long=may_take_long)

    def _typed(self, obj: Object) -> Object:
        return {**self.type_meta, **obj}

    def _lists(self, obj: Object) -> list[FieldError]:
        return lists.validate_lists(obj, self.type.schema) if self.type.has_unique_lists else []

    def _changed_lists(self, new: Object, old: Object) -> list[FieldError]:
        """The errors of duplicate list items, unless the old object has such errors."""
        found = self._lists(new)
        return [] if found and self._lists(old) else found

    def _values(
        self, value: Any, schema: Schema, old: Correlated | None, *, path: str = "", may_take_long: bool
    ) -> list[FieldError]:
        """The errors of a value against its schema, or one error that says that this takes too long."""
        budget = Budget(values.LIMITS if may_take_long else SLICE)
        try:
            return values.validate(value, schema, path=path, old=old, plans=self.type.plans, budget=budget)
        except BudgetExceeded as exc:
            if not may_take_long:
                raise TakesLong from exc
            return [field.forbidden(path or values.NOWHERE, _TAKES_LONG)]

    def _rules(
        self, found: Sequence[FieldError], new: Object, old: Object | None, warn: Warn, *, may_take_long: bool
    ) -> list[FieldError]:
        """The errors of the CEL rules, or one error that says why they did not run."""
        if not self.type.has_rules:
            return []
        if any(error.type in _BLOCKING for error in found):
            return [field.invalid(values.NOWHERE, None, _NOT_CHECKED)]
        was = self._typed(old) if old is not None else None
        schema, typed = self.type.schema or {}, self._typed(new)
        outcome = rules.outcome(schema, typed, was, self.recorder, may_take_long=may_take_long)
        for warning in outcome.warnings:
            warn(warning)
        return outcome.errors if self.shows_values else [_with_type(error) for error in outcome.errors]


def _with_type(error: FieldError) -> FieldError:
    """The error of a rule with the type of the value in its place. `position` tells lists from objects."""
    if error.type in _WITHOUT_VALUES or error.position < 0:
        return error
    composed = "array" if error.position else "object"
    return replace(error, value=_TYPE_NAMES.get(type(error.value), composed))


def finalizer_warnings(new: Object, old: Object | None) -> list[str]:
    """The warnings for the names of new finalizers."""
    before = set(old["metadata"].get("finalizers") or ()) if old else set()
    added = sorted(set(new["metadata"].get("finalizers") or ()) - before)
    return [warning for name in added for warning in _finalizer_warnings(name)]


def _finalizer_warnings(name: str) -> list[str]:
    head = f"metadata.finalizers: {quote(name)}: "
    warnings = [head + wrong for wrong in names.check_qualified_name(name)]
    if "/" not in name and name not in STANDARD_FINALIZERS:
        kind = "including a path (/) " if "." in name else ""
        warnings.append(
            f"{head}prefer a domain-qualified finalizer name {kind}"
            "to avoid accidental conflicts with other finalizer writers"
        )
    return warnings

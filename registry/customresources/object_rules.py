"""The rules for the objects of one version of a custom resource, as its schema and subresources state them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.quoting import quote
from registry.schema.custom_type import CustomType
from registry.schema.structural import embedded, lists
from registry.validation import names
from registry.validation.field import FieldError
from registry.validation.object_meta import STANDARD_FINALIZERS
from storage.stored_object import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRules:
    """`scale` is the subresource as the definition has it."""

    type: CustomType
    scale: Mapping[str, Any] | None = None

    def validate(self, obj: Object) -> list[FieldError]:
        """What is wrong with a new object."""
        found: list[FieldError] = []
        found += embedded.validate_embedded(obj, self.type.schema, self.type.metadata)
        found += self._lists(obj)
        return found

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """What is wrong with a changed object."""
        found: list[FieldError] = []
        found += embedded.validate_embedded(new, self.type.schema, self.type.metadata)
        found += self._changed_lists(new, old)
        return found

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        """What is wrong with a changed status."""
        return self._changed_lists(new, old)

    def _lists(self, obj: Object) -> list[FieldError]:
        return lists.validate_lists(obj, self.type.schema) if self.type.has_unique_lists else []

    def _changed_lists(self, new: Object, old: Object) -> list[FieldError]:
        """The lists of an object may be as wrong as they have been before."""
        found = self._lists(new)
        return [] if found and self._lists(old) else found


def finalizer_warnings(new: Object, old: Object | None) -> list[str]:
    """What to say of the names of new finalizers."""
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

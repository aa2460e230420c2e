"""Default validation: validates defaults in the schema of a custom resource against that schema.

Pure. A default inside of metadata is validated as part of the surrounding resource. Must hold: validation does not
apply the defaults inside of another default, because the server does so for each default.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import aggregate
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.apiextensions.cel_rules import rules
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import embedded, pruning
from aio_apiserver.registry.machinery.schema.structural.metadata import MetadataType
from aio_apiserver.registry.machinery.schema.structural.plain import is_plain
from aio_apiserver.registry.machinery.schema.structural.pruning import META_FIELDS
from aio_apiserver.registry.machinery.schema.validation import values

Wrap = Callable[[Any], Any]
"""Puts a value into the resource that surrounds it."""

_TYPE = {"apiVersion": "validation/v1", "kind": "Validation"}
_EMBEDDED = "x-kubernetes-embedded-resource"


class DefaultRules(Struct, frozen=True):
    """`demands_pruned`: a default may not contain fields that the schema lacks.

    budget: what the validation of all defaults may cost.
    """

    metadata: MetadataType
    budget: Budget
    demands_pruned: bool = True

    def validate(self, schema: Schema, path: str) -> list[FieldError]:
        """The errors of all defaults in a structural schema. Raises BudgetExceeded."""
        root = {**schema, _EMBEDDED: True}
        return self._walk(root, root, path, _typed, is_in_metadata=False)

    def _walk(
        self, schema: Schema, resource: Schema, path: str, wrap: Wrap, *, is_in_metadata: bool
    ) -> list[FieldError]:
        if schema.get(_EMBEDDED):
            resource, wrap, is_in_metadata = schema, _typed, False
        found = []
        if schema.get("default") is not None:
            check = self._in_metadata if is_in_metadata else self._by_itself
            found += check(schema, resource, f"{path}.default", wrap)
        if isinstance(schema.get("items"), dict):
            found += self._walk(
                schema["items"], resource, f"{path}.items", _within(wrap, None), is_in_metadata=is_in_metadata
            )
        for name, member in (schema.get("properties") or {}).items():
            if is_plain(member):
                continue
            is_meta = is_in_metadata or bool(schema.get(_EMBEDDED) and name in META_FIELDS)
            below = f"{path}.properties[{name}]"
            found += self._walk(member, resource, below, _within(wrap, name), is_in_metadata=is_meta)
        return found

    def _in_metadata(self, schema: Schema, resource: Schema, path: str, wrap: Wrap) -> list[FieldError]:
        default = schema["default"]
        whole = objects.clone(wrap(default))
        try:
            embedded.Coercion(self.metadata).coerce(whole, resource)
        except embedded.MalformedResource as exc:
            return [field.invalid(path, default, f"must result in valid metadata: {exc}")]
        wrong = embedded.validate_embedded(whole, resource, self.metadata)
        if wrong:
            return [field.invalid(path, default, f"must result in valid metadata: {aggregate(map(str, wrong))}")]
        return self._values(schema, default, path)

    def _by_itself(self, schema: Schema, _resource: Schema, path: str, _wrap: Wrap) -> list[FieldError]:
        default = objects.clone(schema["default"])
        has_unknown = self.demands_pruned and not _is_pruned(default, schema)
        try:
            embedded.Coercion(self.metadata).coerce(default, schema, path)
        except embedded.MalformedResource as exc:
            wrong = [exc.error]
        else:
            wrong = embedded.validate_embedded(default, schema, self.metadata, path=path)
            wrong = wrong or self._values(schema, default, path)
        # Like kube-apiserver, the message shows the default without the unknown fields of its metadata.
        return [field.invalid(path, default, "must not have unknown fields"), *wrong] if has_unknown else wrong

    def _values(self, schema: Schema, default: Any, path: str) -> list[FieldError]:
        wrong = values.validate_default(default, schema, path=path, budget=self.budget)
        if wrong:
            return wrong
        return rules.evaluate(schema, default, default, path=path) or rules.evaluate(schema, default, None, path=path)


def _is_pruned(default: Any, schema: Schema) -> bool:
    pruned = objects.clone(default)
    pruning.prune_value(pruned, schema, is_resource=bool(schema.get(_EMBEDDED)))
    return bool(pruned == default)


def _typed(value: Any) -> Any:
    return {**_TYPE, **value} if isinstance(value, dict) else value


def _within(wrap: Wrap, name: str | None) -> Wrap:
    """Puts a value into an object under a name; without a name, into a list."""
    return lambda value: wrap([value] if name is None else {name: value})

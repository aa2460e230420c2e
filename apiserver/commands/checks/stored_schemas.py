"""stored_schemas: checks stored objects against their types: built-in ones, and those of stored definitions.

Pure. Must hold: an object that a server of this program has stored has no finding.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from aio_apiserver.apiserver.commands.checks.findings import PROBLEM, WARNING, StoreFinding
from aio_apiserver.apiserver.commands.checks.stored_values import StoredValue
from aio_apiserver.base.budget import Budget, BudgetExceeded
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.schema import Catalog, DecodeError, UnknownKind
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.validation import values

_SCHEMA = "schema"
DEFINITIONS = "customresourcedefinitions"
_NO_SCHEMAS = frozenset({"RangeAllocation"})
"""Kinds that OpenAPI does not describe."""


class StoredSchemas:
    """The types of a minor, and of the definitions that are added."""

    def __init__(self, types: Catalog) -> None:
        self._types = types
        self._custom: dict[tuple[str, str, str], CustomType] = {}

    def add(self, definition: Mapping[str, Any]) -> None:
        """Add the versions of a stored CustomResourceDefinition."""
        spec = definition["spec"]
        for version in spec["versions"]:
            kind = (spec["group"], version["name"], spec["names"]["kind"])
            schema: Schema | None = (version.get("schema") or {}).get("openAPIV3Schema")
            prunes = not spec.get("preserveUnknownFields")
            self._custom[kind] = CustomType(lambda schema=schema: schema, self._types, prunes=prunes)  # type: ignore[misc]

    def findings(self, value: StoredValue) -> Iterator[StoreFinding]:
        """What is wrong with an object."""
        group, _, version = str(value.content["apiVersion"]).rpartition("/")
        kind = str(value.content["kind"])
        custom = self._custom.get((group, version, kind))
        if custom is not None:
            yield from self._of_custom(value, custom)
        elif kind not in _NO_SCHEMAS:
            yield from self._of_builtin(value, group, version, kind)

    def _of_builtin(self, value: StoredValue, group: str, version: str, kind: str) -> Iterator[StoreFinding]:
        try:
            decoded = self._types.type_for(group, version, kind).decode(value.content)
        except UnknownKind:
            yield StoreFinding(WARNING, _SCHEMA, value.place, f"nothing defines {kind} in {group or 'core'}/{version}")
        except DecodeError as exc:
            yield StoreFinding(PROBLEM, _SCHEMA, value.place, str(exc))
        else:
            for error in decoded.strict_errors:
                yield StoreFinding(WARNING, _SCHEMA, value.place, error)

    def _of_custom(self, value: StoredValue, custom: CustomType) -> Iterator[StoreFinding]:
        try:
            decoded = custom.decode(value.content)
        except DecodeError as exc:
            yield StoreFinding(PROBLEM, _SCHEMA, value.place, str(exc))
            return
        for text in decoded.strict_errors:
            yield StoreFinding(WARNING, _SCHEMA, value.place, text)
        try:
            errors = values.validate(decoded.obj, custom.schema or {}, plans=custom.plans, budget=Budget(values.LIMITS))
        except BudgetExceeded as exc:
            yield StoreFinding(WARNING, _SCHEMA, value.place, f"its validation needs {exc}")
            return
        for error in errors:
            yield StoreFinding(WARNING, _SCHEMA, value.place, str(error))

"""The spec of a definition as kube-apiserver looks at it: what all versions have in common stands at the top.

Pure. Paths of errors, and the values that they show, are those of this form. Must hold: what is at the top is in no
version.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.storage.stored_object import Object

_SHARED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")

Version = Mapping[str, Any]


class SpecView(Struct, frozen=True):
    """A spec. `shared` holds what is the same for all versions, by its name in a version."""

    spec: Object
    shared: Mapping[str, Any]
    versions: Sequence[Version]

    @property
    def common_schema(self) -> Schema | None:
        return schema_of(self.shared)

    def subresources_of(self, version: Version) -> Mapping[str, Any]:
        """Those of a version, wherever they stand."""
        if any(one.get("subresources") is not None for one in self.versions):
            return version.get("subresources") or {}
        return self.shared.get("subresources") or {}

    def schemas(self) -> list[Schema]:
        """All schemas, each once."""
        found = [self.common_schema, *(schema_of(version) for version in self.versions)]
        return [schema for schema in found if schema is not None]

    def schema_of_version(self, name: str) -> Schema | None:
        """The schema of a version, wherever it stands."""
        if self.common_schema is not None:
            return self.common_schema
        return next((schema_of(version) for version in self.versions if version.get("name") == name), None)


def schema_of(part: Mapping[str, Any]) -> Schema | None:
    """The schema in a version, or in what versions share."""
    schema: Schema | None = (part.get("schema") or {}).get("openAPIV3Schema")
    return schema


def has_status(subresources: Mapping[str, Any] | None) -> bool:
    return bool(subresources) and (subresources or {}).get("status") is not None


def view_of(spec: Object, compared: Object | None = None) -> SpecView:
    """Look at a spec. Its versions are compared in the other one, if it has what is empty, which makes none differ."""
    versions: Sequence[Version] = spec.get("versions") or ()
    shared = {}
    if versions:
        ones: Sequence[Version] = (compared or spec)["versions"]
        shared = {
            name: versions[0].get(name)
            for name in _SHARED
            if all((one.get(name) or None) == (ones[0].get(name) or None) for one in ones)
        }
    rest = [{name: value for name, value in version.items() if name not in shared} for version in versions]
    return SpecView(spec, {name: value for name, value in shared.items() if value is not None}, rest)

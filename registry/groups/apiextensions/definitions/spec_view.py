"""Spec view: the spec of a definition in kube-apiserver's internal form, with the parts that all versions share at the
top.

Pure. Error paths and error values have this form. Must hold: a part at the top is in no version.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.machinery.schema.model import Schema

_SHARED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")

Version = Mapping[str, Any]


class SpecView(Struct, frozen=True):
    """A spec. `shared` has the parts that are equal in all versions, by their name in a version."""

    spec: Object
    shared: Mapping[str, Any]
    versions: Sequence[Version]

    @property
    def common_schema(self) -> Schema | None:
        return schema_of(self.shared)

    def subresources_of(self, version: Version) -> Mapping[str, Any]:
        """The subresources of a version, its own or the shared ones."""
        if any(one.get("subresources") is not None for one in self.versions):
            return version.get("subresources") or {}
        return self.shared.get("subresources") or {}

    def schemas(self) -> list[Schema]:
        """The schemas of all versions; a shared schema comes once."""
        found = [self.common_schema, *(schema_of(version) for version in self.versions)]
        return [schema for schema in found if schema is not None]

    def schema_of_version(self, name: str) -> Schema | None:
        """The schema of a version, its own or the shared one."""
        if self.common_schema is not None:
            return self.common_schema
        return next((schema_of(version) for version in self.versions if version.get("name") == name), None)


def _without_empty_list(value: Any) -> Any:
    """None for an empty list, which a version may have in place of no list. Other values stay."""
    return None if value == [] else value


def schema_of(part: Mapping[str, Any]) -> Schema | None:
    """The schema of a version, or of the shared parts."""
    schema: Schema | None = (part.get("schema") or {}).get("openAPIV3Schema")
    return schema


def has_status(subresources: Mapping[str, Any] | None) -> bool:
    return bool(subresources) and (subresources or {}).get("status") is not None


def view_of(spec: Object, compared: Object | None = None) -> SpecView:
    """The view of a spec. With `compared`, its versions decide what is shared, so that empty values make no
    difference.
    """
    versions: Sequence[Version] = spec.get("versions") or ()
    shared = {}
    if versions:
        ones: Sequence[Version] = (compared or spec)["versions"]
        shared = {
            name: versions[0].get(name)
            for name in _SHARED
            if all(_without_empty_list(one.get(name)) == _without_empty_list(ones[0].get(name)) for one in ones)
        }
    rest = [{name: value for name, value in version.items() if name not in shared} for version in versions]
    return SpecView(spec, {name: value for name, value in shared.items() if value is not None}, rest)

"""object_checks: checks the stored objects of a whole store: values, names, uids, schemas and owner references.

Pure. Objects come in order of their keys. Owners and definitions may come after the objects that name them, so that
these are checked at the end.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from aio_apiserver.apiserver.commands.checks.findings import PROBLEM, WARNING, StoreFinding
from aio_apiserver.apiserver.commands.checks.stored_schemas import DEFINITIONS, StoredSchemas
from aio_apiserver.apiserver.commands.checks.stored_values import StoredValue
from aio_apiserver.registry.machinery.schema import Catalog


class _Owner(Struct, frozen=True):
    """An object that others may name as their owner."""

    api_group: str
    kind: str
    namespace: str
    name: str


class _Reference(Struct, frozen=True):
    """An owner reference of an object."""

    place: str
    namespace: str
    owner: _Owner
    uid: str


class ObjectChecks:
    """The checks of one store."""

    def __init__(self, types: Catalog) -> None:
        self.count = 0
        self._schemas = StoredSchemas(types)
        self._custom: list[StoredValue] = []
        self._owners: dict[str, _Owner] = {}
        self._references: list[_Reference] = []

    def look(self, value: StoredValue) -> Iterator[StoreFinding]:
        """Check the next object. Custom resources are checked at the end."""
        self.count += 1
        if value.problem:
            yield StoreFinding(PROBLEM, "codec", value.place, value.problem)
            return
        yield from self._check_metadata(value)
        if value.resource.resource == DEFINITIONS:
            self._schemas.add(value.content)
        if value.is_custom:
            self._custom.append(value)
        else:
            yield from self._schemas.findings(value)

    def end(self) -> Iterator[StoreFinding]:
        """The findings that need all objects."""
        for value in self._custom:
            yield from self._schemas.findings(value)
        for reference in self._references:
            yield from self._check_reference(reference)

    def _check_metadata(self, value: StoredValue) -> Iterator[StoreFinding]:
        metadata: Mapping[str, Any] = value.content["metadata"]
        named = (metadata.get("namespace", ""), metadata.get("name", ""))
        if value.is_named and named != (value.namespace, value.name):
            name = "/".join(filter(None, named))
            yield StoreFinding(PROBLEM, "metadata", value.place, f"the object calls itself {name}")
        owner = _Owner(_group_of(value.content["apiVersion"]), str(value.content["kind"]), value.namespace, value.name)
        uid = str(metadata.get("uid", ""))
        if uid and (other := self._owners.get(uid)) is not None:
            message = f"it has the uid of {other.kind} {'/'.join(filter(None, (other.namespace, other.name)))}"
            yield StoreFinding(PROBLEM, "metadata", value.place, message)
        if uid:
            self._owners[uid] = owner
        for one in metadata.get("ownerReferences") or ():
            named_owner = _Owner(_group_of(one.get("apiVersion")), one.get("kind", ""), "", one.get("name", ""))
            self._references.append(_Reference(value.place, value.namespace, named_owner, one.get("uid", "")))

    def _check_reference(self, reference: _Reference) -> Iterator[StoreFinding]:
        wanted, found = reference.owner, self._owners.get(reference.uid)
        title = f"{wanted.kind} {wanted.name} (uid {reference.uid})"
        if found is None:
            message = f"its owner {title} does not exist: the garbage collector deletes it when all owners are gone"
            yield StoreFinding(WARNING, "owner", reference.place, message)
        elif (found.api_group, found.kind, found.name) != (wanted.api_group, wanted.kind, wanted.name):
            message = f"its owner {title} is {found.kind} {found.name}"
            yield StoreFinding(PROBLEM, "owner", reference.place, message)
        elif found.namespace not in ("", reference.namespace):
            message = f"its owner {title} is in the namespace {found.namespace}"
            yield StoreFinding(PROBLEM, "owner", reference.place, message)


def _group_of(api_version: Any) -> str:
    return str(api_version or "").rpartition("/")[0]

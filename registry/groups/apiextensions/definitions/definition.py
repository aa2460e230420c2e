"""Definition: the facts of a CustomResourceDefinition that the server needs to serve custom resources.

Must hold: schemas, which are the largest part, stay in the stored bytes until the first object of their version
arrives. The controller's decisions need no schema: `head` is the definition without its versions.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.apiextensions.definitions import crd_conditions, naming, versions
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.storage.stored_object import StoredObject

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that keeps a definition until its custom resources are deleted."""


class Version(Struct, frozen=True):
    """One version of the definition, without its schema."""

    name: str
    is_served: bool
    facts: Mapping[str, Any]

    @property
    def subresources(self) -> Mapping[str, Any]:
        return self.facts.get("subresources") or {}

    @property
    def has_status(self) -> bool:
        return self.subresources.get("status") is not None

    @property
    def scale(self) -> Mapping[str, Any] | None:
        return self.subresources.get("scale")


class Definition(Struct, frozen=True, kw_only=True):
    """A definition at one revision. `versions` are in the order of the definition. `digest` covers the parts that the
    storage depends on.

    The digest leaves storedVersions out. They grow with changes of the spec, and removing one does not change reads.
    """

    stored: StoredObject
    head: Object
    name: str
    uid: str
    group: str
    accepted: Mapping[str, Any]
    is_namespaced: bool
    versions: Sequence[Version]
    storage_version: str
    stored_versions: Sequence[str]
    conversion: Mapping[str, Any]
    preserves_unknown_fields: bool
    digest: bytes
    is_named: bool
    is_established: bool
    is_terminating: bool
    needs_cleanup: bool

    @property
    def revision(self) -> int:
        return self.stored.revision

    @property
    def is_offered(self) -> bool:
        """Whether the custom resources are served."""
        return (self.is_named or self.is_established) and self.has_names

    @property
    def has_names(self) -> bool:
        """Whether all names are accepted, also when a client has removed the conditions that say so."""
        return all(self.accepted.get(name) for name in ("plural", "singular", "kind", "listKind"))

    @property
    def served_versions(self) -> Sequence[Version]:
        """The served versions, the preferred one first."""
        served = [version for version in self.versions if version.is_served]
        return sorted(served, key=lambda version: versions.priority(version.name))

    def schema_reader(self, version: str) -> Callable[[], Schema | None]:
        """A function that reads the schema of a version in this state of the definition."""
        return lambda: _schema(self.stored.decode(), version)


class SchemaSource:
    """Reads schemas from the newest state of a definition. It is used as long as the schemas do not change."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition

    def reader_of(self, version: str) -> Callable[[], Schema | None]:
        """A function that reads the schema of a version."""
        return lambda: self.definition.schema_reader(version)()


def parse(stored: StoredObject) -> Definition:
    """The facts of a stored definition."""
    crd = stored.decode()
    spec, status = crd["spec"], crd.get("status") or {}
    accepted = naming.names_of(crd)
    return Definition(
        stored=stored,
        head={**crd, "spec": {name: value for name, value in spec.items() if name != "versions"}},
        name=crd["metadata"]["name"],
        uid=crd["metadata"].get("uid", ""),
        group=spec["group"],
        accepted=accepted,
        is_namespaced=spec["scope"] == "Namespaced",
        versions=[_version(one) for one in spec["versions"]],
        storage_version=next(one["name"] for one in spec["versions"] if one.get("storage")),
        stored_versions=tuple(status.get("storedVersions") or ()),
        conversion=spec.get("conversion") or {},
        preserves_unknown_fields=bool(spec.get("preserveUnknownFields")),
        digest=_digest(spec, accepted),
        is_named=crd_conditions.is_true(crd, crd_conditions.NAMES_ACCEPTED),
        is_established=crd_conditions.is_true(crd, crd_conditions.ESTABLISHED),
        is_terminating=crd_conditions.is_true(crd, crd_conditions.TERMINATING),
        needs_cleanup=_needs_cleanup(crd),
    )


def _digest(*parts: Any) -> bytes:
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).digest()


def _version(version: Mapping[str, Any]) -> Version:
    facts = {name: value for name, value in version.items() if name != "schema"}
    return Version(version["name"], bool(version.get("served")), facts)


def _needs_cleanup(crd: Object) -> bool:
    metadata = crd["metadata"]
    return bool(metadata.get("deletionTimestamp")) and CLEANUP in (metadata.get("finalizers") or ())


def _schema(crd: Object, version: str) -> Schema | None:
    for one in crd["spec"]["versions"]:
        if one["name"] == version:
            schema: Schema | None = (one.get("schema") or {}).get("openAPIV3Schema")
            return schema
    return None

"""Namespaces deletion: DELETE of a namespace in two steps, and /finalize.

The first DELETE sets the phase Terminating, whatever the grace period. The namespace stays until `spec.finalizers` is
empty, and later DELETEs change nothing before that.

Must hold: a DELETE applies to the namespace that the server read first; its uid guards against a new one of the same
name.
"""

from collections.abc import Mapping

from msgspec.structs import asdict, replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.base.validation.object_meta import FOREGROUND_DELETION, ORPHAN_DEPENDENTS
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Deleted, Request, RESTStorage, Updated, UpdatedObject, timestamp
from aio_apiserver.registry.generic.store.status import SubresourceREST
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.namespaces.namespaces import FINALIZE_STRATEGY, NAMESPACES, TERMINATING
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.storage.interface import Preconditions, Update
from aio_apiserver.storage.stored_object import StoredObject


class NamespaceStore(Store, frozen=True, kw_only=True):
    """The Store of namespaces, which are deleted in two steps."""

    async def delete(self, request: Request, name: str, options: DeleteOptions) -> Deleted:
        present = await self.get(request, name)
        namespace = present.decode()
        options = _aimed_at(namespace, options)
        if not namespace["metadata"].get("deletionTimestamp"):
            return Deleted(await self._mark(request, name, options), is_gone=False)
        if self.strategy.is_held(namespace):
            return Deleted(present, is_gone=False)
        return await super().delete(request, name, options)

    async def _mark(self, request: Request, name: str, options: DeleteOptions) -> StoredObject:
        async def marked(current: StoredObject | None) -> Update:
            assert current is not None
            obj = current.decode()
            attributes = self.attributes(Operation.DELETE, request, options, name=name, old=current.decode())
            await self.admission.mutate(attributes)
            await self.admission.validate(attributes)
            _begin_to_end(obj, options, now=self.clock.now())
            return Update(self.canonical(obj))

        writing = self.storage.guaranteed_update(
            name, marked, preconditions=options.preconditions, dry_run=options.is_dry_run
        )
        return await self.interpreted(writing, "update", name)


def _aimed_at(namespace: Object, options: DeleteOptions) -> DeleteOptions:
    """The options with the UID of this namespace as precondition. Raises Conflict when the preconditions differ."""
    metadata, wanted = namespace["metadata"], options.preconditions or Preconditions()
    for what, given, found in (
        ("UID", wanted.uid, metadata.get("uid")),
        ("ResourceVersion", wanted.resource_version, metadata.get("resourceVersion")),
    ):
        if given is not None and given != found:
            why = f"Precondition failed: {what} in precondition: {given}, {what} in object meta: {found}"
            raise errors.Conflict(NAMESPACES.resource, metadata["name"], why=why)
    return replace(options, preconditions=replace(wanted, uid=metadata["uid"]))


def _begin_to_end(namespace: Object, options: DeleteOptions, *, now: float) -> None:
    metadata = namespace["metadata"]
    if not metadata.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = timestamp(now)
    objects.put(namespace, "status.phase", TERMINATING)
    present = metadata.get("finalizers") or []
    wanted = {
        ORPHAN_DEPENDENTS: _is_wanted(options, ORPHAN_DEPENDENTS in present, orphans=True),
        FOREGROUND_DELETION: _is_wanted(options, FOREGROUND_DELETION in present, orphans=False),
    }
    kept = [name for name in present if wanted.get(name, True)]
    finalizers = kept + [name for name, is_wanted in wanted.items() if is_wanted and name not in present]
    if finalizers or present:
        metadata["finalizers"] = finalizers


def _is_wanted(options: DeleteOptions, is_present: bool, *, orphans: bool) -> bool:
    """Whether the namespace needs the finalizer `orphan` (with `orphans`) or `foregroundDeletion` of the garbage
    collector.
    """
    if options.orphan_dependents is not None:
        return options.orphan_dependents is orphans
    if options.propagation_policy is not None:
        return options.propagation_policy == ("Orphan" if orphans else "Foreground")
    return is_present


class FinalizeREST:
    """The subresource /finalize. It can be updated and patched, but not read."""

    def __init__(self, store: Store) -> None:
        self._namespaces = SubresourceREST(store, "finalize", FINALIZE_STRATEGY)

    @property
    def kind(self) -> Kind:
        return self._namespaces.kind

    def object_kind(self, version: str) -> GroupVersionKind:
        return self._namespaces.object_kind(version)

    def field_manager(self, version: str) -> FieldManager:
        return self._namespaces.field_manager(version)

    async def update(
        self, request: Request, name: str, updated: UpdatedObject, options: UpdateOptions, *, force_create: bool = False
    ) -> Updated:
        return await self._namespaces.update(request, name, updated, options)


def paths(stores: Mapping[str, Store]) -> dict[str, RESTStorage]:
    """The paths of namespaces that differ from the paths of other kinds."""
    namespaces = stores[NAMESPACES.plural]
    return {
        NAMESPACES.plural: NamespaceStore(**asdict(namespaces)),
        f"{NAMESPACES.plural}/finalize": FinalizeREST(namespaces),
    }

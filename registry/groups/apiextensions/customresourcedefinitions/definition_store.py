"""Definition store: the Store of CustomResourceDefinitions, whose DELETE has two steps.

Must hold: the first DELETE marks a definition and adds the finalizer of the cleanup, whatever the grace period. Later
ones are ordinary.
"""

from msgspec.structs import asdict, replace

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.rest import Deleted, Request, timestamp
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.apiextensions.definitions import crd_conditions
from aio_apiserver.registry.groups.apiextensions.definitions.definition import CLEANUP
from aio_apiserver.storage.interface import Preconditions, Update
from aio_apiserver.storage.stored_object import StoredObject

_PENDING = crd_conditions.condition(
    crd_conditions.TERMINATING,
    status="True",
    reason="InstanceDeletionPending",
    message="CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
)


class DefinitionStore(Store, frozen=True, kw_only=True):
    """A Store that marks a definition before it deletes it."""

    @classmethod
    def of(cls, store: Store) -> "DefinitionStore":
        return cls(**asdict(store))

    async def delete(self, request: Request, name: str, options: DeleteOptions) -> Deleted:
        present = await self.get(request, name)
        metadata = present.decode()["metadata"]
        options = replace(options, preconditions=self._preconditions(name, metadata, options.preconditions))
        if metadata.get("deletionTimestamp"):
            return await super().delete(request, name, options)

        async def mark(current: StoredObject | None) -> Update:
            assert current is not None
            crd = current.decode()
            attributes = self.attributes(Operation.DELETE, request, options, name=name, old=current.decode())
            await self.admission.mutate(attributes)
            await self.admission.validate(attributes)
            now = timestamp(self.clock.now())
            held = crd["metadata"]
            held.setdefault("deletionTimestamp", now)
            if CLEANUP not in (held.get("finalizers") or ()):
                held["finalizers"] = [*(held.get("finalizers") or ()), CLEANUP]
            crd_conditions.put(crd, _PENDING, now=now)
            return Update(self.canonical(crd))

        marking = self.storage.guaranteed_update(
            name, mark, preconditions=options.preconditions, dry_run=options.is_dry_run
        )
        return Deleted(await self.interpreted(marking, "update", name), is_gone=False)

    def _preconditions(self, name: str, metadata: dict[str, str], given: Preconditions | None) -> Preconditions:
        """The preconditions of the client, with the UID of the definition that was found. Raises Conflict when they
        differ.
        """
        given = given or Preconditions()
        for what, wanted, found in (
            ("UID", given.uid, metadata["uid"]),
            ("ResourceVersion", given.resource_version, metadata["resourceVersion"]),
        ):
            if wanted is not None and wanted != found:
                why = f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
                raise errors.Conflict(self.kind.resource, name, why=why)
        return replace(given, uid=metadata["uid"])

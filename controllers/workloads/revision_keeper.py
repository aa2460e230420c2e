"""Revision keeper: the common part of controllers that store templates as ControllerRevisions."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.resources import CONTROLLER_REVISIONS
from aio_apiserver.controllers.workloads import revisions
from aio_apiserver.controllers.workloads.pod_owners import PodOwner
from aio_apiserver.registry.base import errors


class RevisionKeeper(PodOwner):
    """Keeps one revision for each template."""

    def begin(self) -> None:
        super().begin()
        self._revisions = self.follow(CONTROLLER_REVISIONS, self._owner_key)

    def revisions_of(self, owner: Object) -> list[Object]:
        metadata = owner["metadata"]
        return list(self._revisions.controlled_by(metadata["namespace"], metadata["uid"]))

    async def present_revision(self, owner: Object) -> Object:
        """The revision of the present template. It is created, or gets the newest number."""
        every = self.revisions_of(owner)
        found = revisions.find(owner, every)
        if found is None:
            return await self._make(owner, every)
        newest = revisions.next_number(one for one in every if one is not found)
        if int(found["revision"]) >= newest:
            return found

        def renew(obj: Object) -> None:
            obj["revision"] = newest

        return await self.client.change(CONTROLLER_REVISIONS, found, renew) or found

    async def _make(self, owner: Object, every: list[Object]) -> Object:
        wanted = revisions.make(owner, every, self.api_version, self.kind)
        namespace = owner["metadata"]["namespace"]
        try:
            return await self.client.create(CONTROLLER_REVISIONS, wanted, namespace=namespace)
        except errors.AlreadyExists:
            await self.client.change(self.place.part("status"), owner, _collide)
            raise

    async def forget_old(self, owner: Object, live: set[str]) -> None:
        """Delete revisions above the history limit."""
        for one in revisions.superfluous(owner, self.revisions_of(owner), live):
            await self.client.delete(CONTROLLER_REVISIONS, one)


def _collide(owner: Object) -> None:
    status = owner.get("status") or {}
    owner["status"] = {**status, "collisionCount": int(status.get("collisionCount") or 0) + 1}

"""OwnerReferencesPermissionEnforcement: changing ownerReferences needs the right to delete the object.

Must hold: a creation may name any owner. A reference with blockOwnerDeletion needs the right to update the finalizers
of the owner.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.authorizer import Attributes as Question
from aio_apiserver.registry.generic.access.authorizer import Authorizer, Decision
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.kind_lookup import KindLookup, ServedKind
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.plugins.admission.pod_writes import PODS

_NO_DELETION = "cannot set an ownerRef on a resource you can't delete"
_NO_FINALIZERS = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"

Reference = Mapping[str, Any]


def make(given: Foundation) -> "OwnerReferencesPermissionEnforcement":
    """The plugin with the server's own authorizer."""
    mapping = given.kinds
    return OwnerReferencesPermissionEnforcement(given.authorizer, mapping)


class OwnerReferencesPermissionEnforcement(Plugin):
    """Authorizes the user of the write."""

    name = "OwnerReferencesPermissionEnforcement"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})

    def __init__(self, authorizer: Authorizer, mapping: KindLookup) -> None:
        self._authorizer = authorizer
        self._mapping = mapping

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource == PODS and attributes.subresource == "status":
            return
        new, old = _references(attributes.obj), _references(attributes.old)
        if new == old:
            return
        if attributes.operation is not Operation.CREATE:
            await self._check_deletion(attributes)
        blocking = list(_newly_blocking(new, old))
        if blocking and not await self._may_finalize_anything(attributes):
            for reference in blocking:
                await self._check_finalizers(attributes, reference)

    async def _check_deletion(self, attributes: Attributes) -> None:
        question = Question(
            attributes.user,
            "delete",
            group=attributes.resource.group,
            version=attributes.version,
            resource=attributes.resource.resource,
            subresource=attributes.subresource,
            namespace=attributes.namespace,
            name=attributes.name,
        )
        decision = await self._authorizer.authorize(question)
        if not decision.is_allowed:
            raise _refusal(attributes, _NO_DELETION, decision)

    async def _may_finalize_anything(self, attributes: Attributes) -> bool:
        everything = Question(
            attributes.user, "update", group="*", version="*", resource="*", subresource="finalizers", name="*"
        )
        return (await self._authorizer.authorize(everything)).is_allowed

    async def _check_finalizers(self, attributes: Attributes, reference: Reference) -> None:
        api_version, kind = reference.get("apiVersion", ""), reference.get("kind", "")
        found = await self._mapping.resources(api_version, kind)
        if not found:
            mapping = f"RESTMapping for APIVersion {api_version} Kind {kind}"
            missing = f"no matches for kind {quote(kind)} in version {quote(api_version)}"
            why = f"cannot set blockOwnerDeletion in this case because cannot find {mapping}: {missing}"
            raise refusals.forbidden(attributes, why)
        for resource in found:
            decision = await self._authorizer.authorize(_finalizing(attributes, reference, resource))
            if not decision.is_allowed:
                raise _refusal(attributes, _NO_FINALIZERS, decision)


def _finalizing(attributes: Attributes, reference: Reference, resource: ServedKind) -> Question:
    return Question(
        attributes.user,
        "update",
        group=resource.group,
        version=resource.version,
        resource=resource.plural,
        subresource="finalizers",
        namespace=attributes.namespace if resource.is_namespaced else "",
        name=reference.get("name", ""),
    )


def _refusal(attributes: Attributes, why: str, decision: Decision) -> Forbidden:
    return refusals.forbidden(attributes, f"{why}: {decision.reason}, {decision.error or '<nil>'}")


def _references(obj: Object | None) -> Sequence[Reference]:
    return (obj or {}).get("metadata", {}).get("ownerReferences") or []


def _newly_blocking(new: Sequence[Reference], old: Sequence[Reference]) -> Iterator[Reference]:
    blocking = {reference.get("uid") for reference in old if reference.get("blockOwnerDeletion")}
    for reference in new:
        if reference.get("blockOwnerDeletion") and reference.get("uid") not in blocking:
            yield reference

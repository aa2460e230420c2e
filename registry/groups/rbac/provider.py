"""Provider: the kinds of the group rbac.authorization.k8s.io, each with the check against escalation."""

from collections.abc import Mapping

from msgspec.structs import asdict, replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Environment, Request, RESTStorage
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.rbac.bindings import CLUSTERROLEBINDINGS, ROLEBINDINGS
from aio_apiserver.registry.groups.rbac.clusterroles import CLUSTERROLES
from aio_apiserver.registry.groups.rbac.escalation import Guard, Guarded
from aio_apiserver.registry.groups.rbac.roles import ROLES
from aio_apiserver.registry.groups.rbac.validation import GROUP
from aio_apiserver.storage.stored_object import StoredObject

KINDS = (CLUSTERROLEBINDINGS, CLUSTERROLES, ROLEBINDINGS, ROLES)


class GuardedStore(Store, frozen=True, kw_only=True):
    """The Store of one of the kinds. `creating` is the same Store for requests whose path has no name."""

    creating: Store

    async def create(self, request: Request, obj: Object, options: CreateOptions, *, name: str = "") -> StoredObject:
        return await self.creating.create(request, obj, options, name=name)


def _guarded(store: Store, guard: Guard) -> Store:
    creating = replace(store, admission=Guarded(store.admission, guard, is_named=False))
    guarded = {**asdict(store), "admission": Guarded(store.admission, guard, is_named=True)}
    return GuardedStore(**guarded, creating=creating)


def _guard_all(stores: Mapping[str, Store], environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
    guard = Guard(environment.authorizer, environment.storage_for)
    return {"v1": {plural: _guarded(store, guard) for plural, store in stores.items()}}


PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=17000), kinds=KINDS, extras=_guard_all)

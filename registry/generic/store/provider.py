"""Provider: makes the REST storages of an API group from its Kinds.

Each Kind gets a Store on its storage, and, by its facts, /status and /scale. The group adds resources without storage
(reviews, bindings) and subresources with behaviour of their own. Must hold: all paths of a Kind, in all versions, share
one Store, and so one cache.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.generic.field_managers import field_managers
from aio_apiserver.registry.generic.forms import forms_of
from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.hooks import Hooks
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment, RESTStorage
from aio_apiserver.registry.generic.store.scale import ScaleREST
from aio_apiserver.registry.generic.store.status import SubresourceREST
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.storage.factory.dry_run import DryRunnableStorage

Extras = Callable[[Mapping[str, Store], Environment], Mapping[str, Mapping[str, RESTStorage]]]
"""Further resources of a group, by version and path, from the Stores of its Kinds (by their plural)."""


HooksFor = Callable[[Environment], Hooks]
"""Makes the hooks of a kind."""


def _no_extras(_stores: Mapping[str, Store], _environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
    return {}


class KindsProvider(Struct, frozen=True, kw_only=True):
    """A group and its kinds."""

    group: APIGroup
    kinds: Sequence[Kind] = ()
    hooks: Mapping[str, HooksFor] = field(default_factory=dict)
    """By plural: the hooks of a kind."""
    also: Mapping[str, Sequence[Kind]] = field(default_factory=dict)
    """By plural: kinds of other groups that serve the same objects, with their own field managers."""
    extras: Extras = field(default=_no_extras)

    def at(self, minor: Minor) -> "KindsProvider":
        """The group and its kinds as a minor has them."""
        also = {plural: [kind.at(minor) for kind in kinds] for plural, kinds in self.also.items()}
        kinds = [kind.at(minor) for kind in self.kinds]
        return replace(self, group=self.group.at(minor.version), kinds=kinds, also=also)

    def storages(self, environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
        """The resources by version and path."""
        kinds = [_with_beta_versions(kind, environment) for kind in self.kinds]
        there = [kind for kind in kinds if kind.versions]
        stores = {kind.plural: open_store(kind, environment, self.also.get(kind.plural, ())) for kind in there}
        for plural in self.hooks.keys() & stores.keys():
            stores[plural] = replace(stores[plural], hooks=self.hooks[plural](environment))
        storages: dict[str, dict[str, RESTStorage]] = {version: {} for version in self.group.versions}
        for store in stores.values():
            for version in store.kind.versions:
                storages[version].update(_paths(store))
        for version, more in self.extras(stores, environment).items():
            storages[version].update(more)
        return {version: paths for version, paths in storages.items() if paths}


def _with_beta_versions(kind: Kind, environment: Environment) -> Kind:
    enablement = environment.config.enablement
    more = [one for one in kind.beta_versions if enablement.has(kind.group, one, kind.plural)]
    return replace(kind, versions=(*kind.versions, *more)) if more else kind


def open_store(kind: Kind, environment: Environment, also: Sequence[Kind] = ()) -> Store:
    """The Store of a kind; its objects are also served as those of the kinds in `also`."""
    storage = environment.writable_storage_for(resource_of(kind.stored_as or kind))
    return Store(
        kind=kind,
        storage=DryRunnableStorage(storage),
        strategy=kind.strategy,
        canonical=_canonical(kind.stored_as or kind, environment.types),
        admission=environment.admission,
        authorizer=environment.authorizer,
        clock=environment.clock,
        config=environment.config,
        managers=field_managers(kind, environment.types, environment.clock),
        forms=forms_of(kind, environment.types, also),
    )


def _canonical(kind: Kind, types: Catalog) -> Callable[[Object], Object]:
    """The canonical form of a kind's hub objects; its type is compiled when the first one is written."""
    find_type = cache(partial(types.type_for, kind.group, kind.hub_version, kind.kind))

    def canonical(obj: Object) -> Object:
        printed = find_type().canonical(obj)
        printed.pop("kind", None)
        printed.pop("apiVersion", None)
        return printed

    return canonical


def _paths(store: Store) -> dict[str, RESTStorage]:
    kind = store.kind
    paths: dict[str, RESTStorage] = {kind.plural: store}
    if kind.status_strategy is not None:
        paths[f"{kind.plural}/status"] = SubresourceREST(store, "status", kind.status_strategy)
    if kind.scale is not None:
        paths[f"{kind.plural}/scale"] = ScaleREST(store)
    return paths

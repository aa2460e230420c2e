"""Provider: the kinds and paths of the group apiextensions.k8s.io."""

from collections.abc import Mapping

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.rest import Environment, RESTStorage
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.customresourcedefinitions import (
    DEFINITIONS,
    GROUP,
)
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.definition_store import DefinitionStore

KINDS = (DEFINITIONS,)


def _extras(stores: Mapping[str, Store], _environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
    return {"v1": {DEFINITIONS.plural: DefinitionStore.of(stores[DEFINITIONS.plural])}}


PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=16700), kinds=KINDS, extras=_extras)

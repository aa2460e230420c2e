"""The apiextensions.k8s.io group: its kinds."""

from collections.abc import Mapping

from registry.customresources.customresourcedefinitions import DEFINITIONS, GROUP
from registry.customresources.definition_store import DefinitionStore
from registry.generic.provider import KindsProvider
from registry.generic.store import Store
from registry.rest import Environment, RESTStorage

KINDS = (DEFINITIONS,)


def _extras(stores: Mapping[str, Store], _environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
    return {"v1": {DEFINITIONS.plural: DefinitionStore.of(stores[DEFINITIONS.plural])}}


PROVIDER = KindsProvider(group=GROUP, kinds=KINDS, extras=_extras)

"""kind_mapping: finds the resources of a kind, built-in or custom, for references such as ownerReferences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.controlplane.providers import providers_of
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.kind_lookup import ServedKind
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.customresourcedefinitions import DEFINITIONS
from aio_apiserver.storage.interface import Reader


class _Custom(NamedTuple):
    kind: GroupKind
    plural: str
    is_namespaced: bool
    versions: frozenset[str]


class KindMapping:
    """Knows the built-in kinds; established custom kinds are looked up in the CustomResourceDefinitions."""

    def __init__(self, definitions: Reader, minor: Minor) -> None:
        self._kinds: Mapping[GroupKind, Kind] = {kind.group_kind: kind for kind in _builtin(minor)}
        self._definitions = Lookup(definitions, DEFINITIONS.resource, _custom)

    async def resources(self, api_version: str, kind: str) -> Sequence[ServedKind]:
        """The resources of a kind in a version; empty when none serves it."""
        group, _, version = api_version.rpartition("/")
        wanted = GroupKind(group, kind)
        known = self._kinds.get(wanted)
        if known is not None:
            stored = resource_of(known.stored_as or known)
            found = [ServedKind(group, version, known.plural, known.is_namespaced, stored)]
            return found if version in known.versions else []
        return [
            ServedKind(group, version, one.plural, one.is_namespaced)
            for one in await self._definitions.list()
            if one.kind == wanted and version in one.versions
        ]


def _builtin(minor: Minor) -> Iterator[Kind]:
    for provider in providers_of(minor):
        if isinstance(provider, KindsProvider):
            yield from provider.kinds


def _custom(definition: Object) -> _Custom:
    spec, is_served = definition["spec"], conditions.is_true(definition.get("status") or {}, "Established")
    versions = frozenset(one["name"] for one in spec.get("versions") or () if is_served and one.get("served"))
    kind = GroupKind(spec["group"], spec["names"]["kind"])
    return _Custom(kind, spec["names"]["plural"], spec.get("scope") == "Namespaced", versions)

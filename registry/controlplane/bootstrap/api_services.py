"""api_services: the APIServices of the groups that this server serves itself, built-in and custom.

Must hold: a client's own object with such a name is left alone. The built-in APIServices are repaired once, when the
server starts. Those of custom resources follow their definitions.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import NamedTuple

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.controlplane.providers import PROVIDERS, providers_of
from aio_apiserver.registry.generic.enablement import Enablement
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.generic.rest import RESTStorageProvider
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.customresourcedefinitions import (
    DEFINITIONS as DEFINITION_KIND,
)
from aio_apiserver.registry.groups.apiregistration.apiservices import APISERVICES as APISERVICE_KIND
from aio_apiserver.storage.stored_object import StoredObject

APISERVICES = ResourcePath(APISERVICE_KIND.group, "v1", APISERVICE_KIND.plural)
DEFINITIONS = ResourcePath(DEFINITION_KIND.group, "v1", DEFINITION_KIND.plural)

_MANAGED = "kube-aggregator.kubernetes.io/automanaged"
_AT_START = "onstart"
_ALWAYS = "true"

GroupVersion = tuple[str, str]


class VersionPriority(NamedTuple):
    """The position of a version in discovery: its group's priority, then its own; higher comes first."""

    group: int
    version: int


def _built_in(providers: Iterable[RESTStorageProvider]) -> Iterator[tuple[GroupVersion, VersionPriority]]:
    for group in (provider.group for provider in providers if provider.group.priority):
        for version, priority in group.versions.items():
            yield (group.name, version), VersionPriority(group.priority, priority)


_BUILT_IN: Mapping[GroupVersion, VersionPriority] = dict(sorted(_built_in(PROVIDERS)))
"""Those of all minors: a version has the same priority in each."""
_CUSTOM = VersionPriority(1000, 100)


async def ensure_built_in(client: OwnClient, enablement: Enablement, minor: Minor) -> None:
    """Create or repair the APIServices of served built-in versions, and delete those of others, which other minors have
    or which are disabled.
    """
    present = {obj["metadata"]["name"]: obj for obj in await client.all(APISERVICES)}
    own = dict(_built_in(providers_of(minor)))
    for (group, version), priority in _BUILT_IN.items():
        name = f"{version}.{group}"
        if (group, version) not in own or not enablement.has_version(group, version):
            if name in present and _how(present[name]) == _AT_START:
                await client.delete(APISERVICES, name)
            continue
        wanted = _api_service(group, version, priority, how=_AT_START)
        await _ensure(client, wanted, present.get(name))


async def settle_custom(client: OwnClient, served: Iterable[Collection[GroupVersion]]) -> None:
    """Create, repair and delete the APIServices of custom resources, from the versions that each definition serves."""
    wanted = {
        f"{version}.{group}": _api_service(group, version, _CUSTOM, how=_ALWAYS)
        for group, version in chain.from_iterable(served)
    }
    present = {obj["metadata"]["name"]: obj for obj in await client.all(APISERVICES)}
    for name, obj in wanted.items():
        await _ensure(client, obj, present.get(name))
    for name, obj in present.items():
        if _how(obj) == _ALWAYS and name not in wanted:
            await client.delete(APISERVICES, name)


def served_versions(definition: StoredObject) -> Collection[GroupVersion]:
    """The versions that a definition serves."""
    spec = definition.decode()["spec"]
    return {(spec["group"], version["name"]) for version in spec.get("versions") or () if version.get("served")}


async def _ensure(client: OwnClient, wanted: Object, present: Object | None) -> None:
    if present is None:
        await client.create_missing(APISERVICES, wanted)
    elif _how(present) and present["spec"] != wanted["spec"]:
        await client.change(APISERVICES, wanted["metadata"]["name"], partial(_mend, spec=wanted["spec"]))


def _mend(obj: Object, *, spec: Object) -> bool:
    if not _how(obj) or obj["spec"] == spec:
        return False
    obj["spec"] = spec
    return True


def _how(obj: Object) -> str:
    """How the server manages an object (`onstart`, `true`); empty when it does not."""
    how: str = (obj["metadata"].get("labels") or {}).get(_MANAGED, "")
    return how if how in (_AT_START, _ALWAYS) else ""


def group_priority(group: str) -> int:
    """The priority of one of this server's groups in discovery."""
    return max((one.group for (name, _), one in _BUILT_IN.items() if name == group), default=_CUSTOM.group)


def version_priority(group: str, version: str) -> int:
    """The priority of one of this server's versions in its group."""
    return _BUILT_IN.get((group, version), _CUSTOM).version


def _api_service(group: str, version: str, priority: VersionPriority, *, how: str) -> Object:
    spec: Object = {"group": group} if group else {}
    spec |= {"version": version, "groupPriorityMinimum": priority.group, "versionPriority": priority.version}
    return {"metadata": {"name": f"{version}.{group}", "labels": {_MANAGED: how}}, "spec": spec}

"""Remote groups: merges the groups of aggregated servers into those of this server, by the priorities of their
APIServices.

Pure. The highest priority comes first, equal ones by name; equal versions in Kubernetes' version order.
"""

from collections.abc import Iterable, Sequence

from aio_apiserver.apiserver.endpoints.discovery_documents import DiscoveryGroup
from aio_apiserver.apiserver.endpoints.remote_versions import RemoteVersion
from aio_apiserver.registry.controlplane.bootstrap import api_services
from aio_apiserver.registry.groups.apiextensions.definitions import versions

_ALWAYS_FIRST = "apiregistration.k8s.io"
_HIGHEST = 20_001


def merged(groups: Sequence[DiscoveryGroup], remote: Iterable[RemoteVersion]) -> Sequence[DiscoveryGroup]:
    """All groups in their order."""
    by_group: dict[str, list[RemoteVersion]] = {}
    for one in remote:
        by_group.setdefault(one.group, []).append(one)
    if not by_group:
        return groups
    found = [_joined(group, by_group.pop(group.name, [])) for group in groups]
    for name, its in sorted(by_group.items()):
        group, priority = _joined(DiscoveryGroup(name, {}), its), max(one.group_priority for one in its)
        place = next((index for index, one in enumerate(found) if _is_behind(one, name, priority)), len(found))
        found.insert(place, group)
    return found


def _joined(group: DiscoveryGroup, remote: Sequence[RemoteVersion]) -> DiscoveryGroup:
    """A group with the versions of aggregated servers, which replace its own versions of the same name."""
    if not remote:
        return group
    its = {one.version: one for one in remote}
    own = {version: api_services.version_priority(group.name, version) for version in group.versions}
    rank = {**own, **{version: one.version_priority for version, one in its.items()}}
    names = sorted(rank, key=lambda version: (-rank[version], versions.priority(version)))
    return DiscoveryGroup(group.name, {name: its.get(name) or group.versions[name] for name in names})


def _is_behind(group: DiscoveryGroup, name: str, priority: int) -> bool:
    """Whether the group comes after a new group of this name and priority."""
    own = _priority(group)
    return own < priority or (own == priority and group.name > name)


def _priority(group: DiscoveryGroup) -> int:
    if group.name == _ALWAYS_FIRST:
        return _HIGHEST
    remote = [one.group_priority for one in group.versions.values() if isinstance(one, RemoteVersion)]
    has_own = len(remote) < len(group.versions)
    return max([*remote, *([api_services.group_priority(group.name)] if has_own else [])])

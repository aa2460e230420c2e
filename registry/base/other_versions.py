"""other_versions: in which apiVersions kube-apiserver reads an object that was sent to the path of another version.

The kinds have their old versions in the types.json of their groups; so have kinds without a resource (List).
"""

from functools import cache

from aio_apiserver.registry.base import type_facts
from aio_apiserver.registry.base.names import GroupVersionKind


def is_old(kind: GroupVersionKind) -> bool:
    """Whether kube-apiserver reads a kind in a version that it does not serve."""
    return (kind.api_version, kind.kind) in _old()


def are_one_kind(kind: GroupVersionKind, other: GroupVersionKind) -> bool:
    """Whether two kinds are the same, in whichever groups and versions; both must be kinds that can be read."""
    if kind.kind != other.kind:
        return False
    groups = {kind.group, other.group}
    return len(groups) == 1 or "extensions" in groups or _is_shared(kind, other.group) or _is_shared(other, kind.group)


def _is_shared(kind: GroupVersionKind, group: str) -> bool:
    facts = type_facts.of_group(kind.group).types.get(kind.kind)
    return facts is not None and group in facts.other_groups


@cache
def _old() -> frozenset[tuple[str, str]]:
    return frozenset((version, name) for name, facts in type_facts.all_types() for version in facts.old_versions)

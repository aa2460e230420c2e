"""other_versions: in which apiVersions kube-apiserver reads an object that was sent to the path of another version.

The groups have the old versions of their kinds in types.json; so they have kinds without a resource (List).
"""

from aio_apiserver.registry.base import type_facts
from aio_apiserver.registry.base.names import GroupVersionKind


def is_old(kind: GroupVersionKind, minor: str) -> bool:
    """Whether kube-apiserver reads a kind in a version that it does not serve."""
    return (kind.api_version, kind.kind) in type_facts.old_versions(minor)


def are_one_kind(kind: GroupVersionKind, other: GroupVersionKind, minor: str) -> bool:
    """Whether two kinds are the same, in whichever groups and versions; both must be kinds that can be read."""
    if kind.kind != other.kind:
        return False
    if kind.group == other.group or other.group in type_facts.other_groups(kind.group, kind.kind, minor):
        return True
    return kind.group in type_facts.other_groups(other.group, other.kind, minor)

"""The columns of the kinds that Kubernetes brings: one table, by group and kind.

A kind that is not listed shows its name and its age; one that brings its own columns (Kind.columns) is not looked up.
"""

from collections.abc import Mapping

from registry.names import GroupKind
from registry.printing.columns import BY_AGE, BY_TIME, Columns

_RBAC = "rbac.authorization.k8s.io"

_COLUMNS: Mapping[GroupKind, Columns] = {
    GroupKind("", "LimitRange"): BY_TIME,
    GroupKind(_RBAC, "ClusterRole"): BY_TIME,
    GroupKind(_RBAC, "Role"): BY_TIME,
    GroupKind("storage.k8s.io", "CSIStorageCapacity"): BY_TIME,
}


def columns_of(kind: GroupKind) -> Columns:
    """How tables show a kind."""
    return _COLUMNS.get(kind, BY_AGE)

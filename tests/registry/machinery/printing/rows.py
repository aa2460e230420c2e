"""Rows for tests: cells by the names of their columns."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.controlplane.providers import PROVIDERS
from aio_apiserver.registry.generic.store import scale
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.core.componentstatuses import COMPONENTSTATUSES
from aio_apiserver.registry.machinery.printing.columns import Columns

NOW = 1_700_000_100.0
"""100 seconds after CREATED."""
CREATED = "2023-11-14T22:13:20Z"

COLUMNS: Mapping[GroupKind, Columns] = {
    **{
        GroupKind(kind.group, kind.kind): kind.columns
        for provider in PROVIDERS
        if isinstance(provider, KindsProvider)
        for kind in (*provider.kinds, COMPONENTSTATUSES)
    },
    GroupKind("autoscaling", "Scale"): scale.COLUMNS,
}
"""The table columns of each kind."""


def cells_of(group: str, kind: str, obj: Object) -> Mapping[str, Any]:
    """The row of an object, which gets a name and an age."""
    columns = COLUMNS[GroupKind(group, kind)]
    shown = {**obj, "metadata": {"name": "a", "creationTimestamp": CREATED, **obj.get("metadata", {})}}
    return dict(zip((column.name for column in columns.columns), columns.cells(shown, NOW), strict=False))

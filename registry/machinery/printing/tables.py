"""Tables and partial metadata: the two forms of meta.k8s.io in which every object can be shown.

Pure. Only the forms: columns come from columns.py, and the client chooses the form.
"""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.machinery.printing.columns import Columns

PARTIAL = "PartialObjectMetadata"


def table(
    api_version: str, metadata: Object, *, definitions: Sequence[Object] | None, rows: Sequence[Object] | None
) -> Object:
    """A table. Definitions are None for all but the first table of a watch."""
    return {
        "kind": "Table",
        "apiVersion": api_version,
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    }


def row(columns: Columns, obj: Object, *, now: float) -> Object:
    """The row of an object, without the object itself."""
    made: Object = {"cells": columns.cells(obj, now)}
    if conditions := columns.conditions(obj):
        made["conditions"] = conditions
    return made


def partial(api_version: str, obj: Object, *, hidden: frozenset[str]) -> Object:
    """An object's metadata alone, without the hidden annotations."""
    metadata = obj.get("metadata") or {}
    if hidden:
        metadata = _without_annotations(metadata, hidden)
    return {"kind": PARTIAL, "apiVersion": api_version, "metadata": metadata}


def _without_annotations(metadata: Object, names: frozenset[str]) -> Object:
    annotations = metadata.get("annotations") or {}
    if names.isdisjoint(annotations):
        return metadata
    kept = {name: value for name, value in annotations.items() if name not in names}
    shown = {**metadata, "annotations": kept}
    return shown if kept else {name: value for name, value in shown.items() if name != "annotations"}


def partial_list(api_version: str, metadata: Object, items: Sequence[Object], *, hidden: frozenset[str]) -> Object:
    """The metadata of many objects. An empty list is null, as upstream."""
    shown: list[Any] = [partial(api_version, item, hidden=hidden) for item in items]
    return {"kind": f"{PARTIAL}List", "apiVersion": api_version, "metadata": metadata, "items": shown or None}

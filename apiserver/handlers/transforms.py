"""Transforms: converts objects to a Table or to PartialObjectMetadata, as the Accept header requests.

Must hold: negotiation has chosen the kind before. `includeObject` is checked when the response is written, after the
operation. A long list yields to other requests.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aio_apiserver.apiserver.wire import negotiation, parameters
from aio_apiserver.apiserver.wire.negotiation import Format
from aio_apiserver.apiserver.wire.urls import Query
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery.printing import tables
from aio_apiserver.storage.stored_object import StoredObject

_NONE, _METADATA, _OBJECT = "None", "Metadata", "Object"
_INCLUDES = frozenset({"", _NONE, _METADATA, _OBJECT})
_GO_PACKAGES: Mapping[str, str] = {"": "core", "events.k8s.io": "core"}
"""The Go package of a group's types, when it is not the first part of the group's name."""


class Transform(NamedTuple):
    """A target kind of meta.k8s.io: its kind and apiVersion, and what the rows of a table include."""

    kind: str
    api_version: str
    include: str = ""

    @property
    def has_object(self) -> bool:
        """Whether the rows of a table include the whole object."""
        return self.include == _OBJECT

    def with_metadata(self) -> "Transform":
        """The same, but rows include at least the metadata."""
        return self if self.has_object else self._replace(include=_METADATA)


def of(chosen: Format, query: Query) -> Transform | None:
    """The conversion that the client requests; None for the object itself. Raises BadRequest."""
    if chosen.target is None:
        return None
    include = ""
    if chosen.target.kind == negotiation.TABLE:
        include = parameters.text(query, "includeObject")
        if include not in _INCLUDES:
            wrong = field.invalid_typed("includeObject", include, "must be 'Metadata', 'Object', 'None', or empty")
            raise errors.BadRequest(f"Unable to convert to Table as requested: {wrong}")
    return Transform(chosen.target.kind, chosen.target.api_version, include)


def one(transform: Transform, served: Served[Any], obj: Object) -> Object:
    """One hub object, converted and consumed. Raises NotTransformable, or a Status without a reason (500)."""
    if transform.kind == negotiation.TABLE:
        version = obj["metadata"].get("resourceVersion")
        metadata = {"resourceVersion": version} if version else {}
        made = row(transform, served, obj, now=served.clock.now())
        return tables.table(transform.api_version, metadata, definitions=served.column_definitions, rows=[made])
    if transform.kind == negotiation.PARTIAL:
        return tables.partial(transform.api_version, obj, hidden=served.kind.inner_annotations)
    if served.is_custom:
        raise errors.StatusError("content is not a list")
    found = _go_type(served.view.object_kind)
    raise errors.NotTransformable(
        f"you requested PartialObjectMetadataList, but the requested object is not a list ({found})"
    )


async def many(transform: Transform, served: Served[Any], metadata: Object, items: Sequence[StoredObject]) -> Object:
    """A list, converted. Raises NotTransformable."""
    if transform.kind == negotiation.PARTIAL:
        found = "*unstructured.UnstructuredList" if served.is_custom else _go_type(served.view.list_kind)
        raise errors.NotTransformable(
            f"you requested PartialObjectMetadata, but the requested object is a list ({found})"
        )
    if transform.kind == negotiation.PARTIAL_LIST:
        shown = [item.decode() async for item in in_turns(items)]
        return tables.partial_list(transform.api_version, metadata, shown, hidden=served.kind.inner_annotations)
    now = served.clock.now()
    in_order = ordered(served, items)
    rows = [row(transform, served, item.decode(), now=now) async for item in in_turns(in_order)]
    shown_rows = None if served.columns.is_null_when_empty and not rows else rows
    return tables.table(transform.api_version, metadata, definitions=served.column_definitions, rows=shown_rows)


def ordered(served: Served[Any], items: Sequence[StoredObject]) -> Sequence[StoredObject]:
    """The items in the order of the rows."""
    order = served.columns.order
    return items if order is None else sorted(items, key=lambda item: order(item.decode()))


def row(transform: Transform, served: Served[Any], obj: Object, *, now: float) -> Object:
    """The row of a hub object, which is consumed."""
    made = tables.row(served.columns, obj, now=now)
    if transform.has_object:
        made["object"] = served.view.versioned(obj)
    elif transform.include == _NONE:
        made["object"] = None
    else:
        made["object"] = tables.partial(transform.api_version, obj, hidden=served.kind.inner_annotations)
    return made


def _go_type(kind: GroupVersionKind) -> str:
    package = _GO_PACKAGES.get(kind.group) or kind.group.partition(".")[0]
    return f"*{package}.{kind.kind}"

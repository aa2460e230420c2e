"""Object encoders: encode stored objects as protobuf, table rows and partial metadata, each once for a revision.

StoredObject.encoded caches by encoder, so there is one encoder function for each resource, version and form. Must hold:
the joined bytes equal the encoding of the whole decoded response.
"""

from collections.abc import Callable, Sequence, Sized
from typing import Any, NamedTuple, TypeVar

import orjson

from aio_apiserver.apiserver.handlers import list_bodies, transforms
from aio_apiserver.apiserver.handlers.list_bodies import ItemEncoder, Listed, ListFrame
from aio_apiserver.apiserver.handlers.transforms import Transform
from aio_apiserver.apiserver.wire import negotiation
from aio_apiserver.apiserver.wire.long_bodies import LongBody
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.printing import ages, row_templates, tables
from aio_apiserver.registry.machinery.printing.row_templates import RowTemplate
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import delimited
from aio_apiserver.storage.stored_object import StoredObject

M = TypeVar("M", bound=Sized)


def message_of(served: Served[Any]) -> Callable[[StoredObject], bytes]:
    """The encoder of objects as protobuf messages with their lengths, without kind and apiVersion."""
    view, types = served.view, served.types
    return _only(served, "", lambda stored: delimited(protobuf.message_in(view.item(stored), view.object_kind, types)))


def partial_of(served: Served[Any], api_version: str) -> Callable[[StoredObject], bytes]:
    """The encoder of partial metadata as JSON."""
    form = (media_types.JSON, api_version)
    return _only(
        served,
        form,
        lambda stored: orjson.dumps(tables.partial(api_version, stored.decode(), hidden=served.kind.inner_annotations)),
    )


def partial_message_of(served: Served[Any], api_version: str) -> Callable[[StoredObject], bytes]:
    """The encoder of partial metadata as protobuf messages with their lengths."""
    encode, kind = partial_of(served, api_version), _meta_kind(api_version, negotiation.PARTIAL)
    form = (media_types.PROTOBUF, api_version)
    return _only(served, form, lambda stored: delimited(protobuf.message_in(encode(stored), kind, served.types)))


def _row_of(served: Served[Any], transform: Transform) -> Callable[[StoredObject], RowTemplate]:
    """The encoder of objects as table rows."""

    def encode(stored: StoredObject) -> RowTemplate:
        return row_templates.of(transforms.row(transform, served, stored.decode(), now=ages.LATER))

    return _only(served, transform, encode)


def _cells_of(served: Served[Any]) -> Callable[[StoredObject], RowTemplate]:
    """The encoder of objects as table rows without an object."""

    def encode(stored: StoredObject) -> RowTemplate:
        return row_templates.of(tables.row(served.columns, stored.decode(), now=ages.LATER))

    return _only(served, _cells_of, encode)


def _rows_of(served: Served[Any], transform: Transform) -> ItemEncoder:
    """The encoder of objects as table rows at this time. Whole objects are copied from their JSON, and are not kept."""
    now = served.clock.now()
    if not transform.has_object:
        return ItemEncoder(_row_of(served, transform), lambda _, rows: [row.at(now) for row in rows])
    view = served.view

    def finish(objects: Sequence[StoredObject], kept: Sequence[RowTemplate]) -> list[bytes]:
        return [
            b'%b,"object":%b%b}' % (cells.at(now)[:-1], view.prefix, view.item(stored)[1:])
            for stored, cells in zip(objects, kept, strict=True)
        ]

    return ItemEncoder(_cells_of(served), finish, is_copy=view.conversion is None)


def _only(served: Served[Any], form: object, encode: Callable[[StoredObject], M]) -> Callable[[StoredObject], M]:
    """The cached encoder of a form; `encode` when there is none."""
    only: Callable[[StoredObject], M] = served.remembered.setdefault((_only, form), encode)
    return only


def message(served: Served[Any], stored: StoredObject) -> bytes:
    """The protobuf body of an object."""
    head, encode, tail = served.remembered.get(_message_parts) or _message_parts(served)
    return b"%b%b%b" % (head, stored.encoded(encode), tail)


def _message_parts(served: Served[Any]) -> tuple[bytes, Callable[[StoredObject], bytes], bytes]:
    """What a message has around it, and its encoder."""
    kind = served.view.object_kind
    head, tail = protobuf.around(kind.api_version, kind.kind)
    parts = served.remembered[_message_parts] = head, message_of(served), tail
    return parts


def partial_message(served: Served[Any], api_version: str, stored: StoredObject) -> bytes:
    """The protobuf body of an object's partial metadata."""
    made = stored.encoded(partial_message_of(served, api_version))
    return protobuf.enclosed(made, api_version=api_version, kind=negotiation.PARTIAL)


class JsonList(NamedTuple):
    """A list in JSON: what stands around its items, and their encoder. member: the name of their array."""

    frame: ListFrame
    encoder: ItemEncoder
    member: str = "items"


async def message_list(
    served: Served[Any], metadata: Object, items: Sequence[StoredObject], user: str
) -> bytes | LongBody:
    """The protobuf body of a list."""
    kind = served.view.list_kind
    listed = Listed(items, ItemEncoder(message_of(served)), user)
    return await list_bodies.message_of(listed, kind, _list_meta(served, metadata, kind))


async def partial_message_list(
    served: Served[Any], api_version: str, metadata: Object, items: Sequence[StoredObject], user: str
) -> bytes | LongBody:
    """The protobuf body of a list of partial metadata."""
    kind = _meta_kind(api_version, negotiation.PARTIAL_LIST)
    listed = Listed(items, ItemEncoder(partial_message_of(served, api_version)), user)
    return await list_bodies.message_of(listed, kind, _list_meta(served, metadata, kind))


def _list_meta(served: Served[Any], metadata: Object, kind: GroupVersionKind) -> bytes:
    """The message of a list without items."""
    return protobuf.message_in(orjson.dumps({"metadata": metadata}), kind, served.types)


def list_of(served: Served[Any], metadata: Object) -> JsonList:
    """A list in JSON, with members in the order of the Go type. Its items have no types, unless they are custom."""
    view = served.view
    kind, api_version = view.list_kind.kind.encode(), view.list_kind.api_version.encode()
    if served.is_custom:
        shown = orjson.dumps(dict(sorted({"continue": "", **metadata}.items())))
        head, tail = b'{"apiVersion":"%b","items":[' % api_version, b'],"kind":"%b","metadata":%b}\n' % (kind, shown)
    else:
        shown = orjson.dumps(metadata)
        head, tail = b'{"kind":"%b","apiVersion":"%b","metadata":%b,"items":[' % (kind, api_version, shown), b"]}\n"
    item = view.json if view.is_custom else view.item
    encoder = ItemEncoder(finish=lambda objects, _: list(map(item, objects)), is_copy=view.conversion is None)
    return JsonList(ListFrame(head, tail), encoder)


def transformed_list(
    transform: Transform, served: Served[Any], metadata: Object, items: Sequence[StoredObject]
) -> JsonList | None:
    """A list in another form; None for a form that cannot be joined from its items."""
    if transform.kind == negotiation.TABLE and (items or not served.columns.is_null_when_empty):
        whole = tables.table(transform.api_version, metadata, definitions=served.column_definitions, rows=None)
        return JsonList(ListFrame(_before(whole, "rows"), b"]}\n"), _rows_of(served, transform), "rows")
    if transform.kind == negotiation.PARTIAL_LIST and items:
        whole = tables.partial_list(transform.api_version, metadata, (), hidden=served.kind.inner_annotations)
        encoder = ItemEncoder(partial_of(served, transform.api_version))
        return JsonList(ListFrame(_before(whole, "items"), b"]}\n"), encoder)
    return None


def table_of_one(
    transform: Transform, served: Served[Any], stored: StoredObject, definitions: Sequence[Object] | None
) -> bytes:
    """The JSON of a table with one object, at its revision."""
    metadata = {"resourceVersion": str(stored.revision)}
    whole = tables.table(transform.api_version, metadata, definitions=definitions, rows=None)
    keep, finish, _ = _rows_of(served, transform)
    assert keep is not None
    assert finish is not None
    return b"%b%b]}" % (_before(whole, "rows"), finish((stored,), (stored.encoded(keep),))[0])


def _meta_kind(api_version: str, kind: str) -> GroupVersionKind:
    return GroupVersionKind(negotiation.META_GROUP, api_version.rpartition("/")[2], kind)


def _before(whole: Object, last: str) -> bytes:
    """The JSON of an object up to the first element of its last member."""
    return orjson.dumps({**whole, last: []})[:-2]

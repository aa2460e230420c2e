"""List texts: lists as indented JSON and as YAML, item by item.

Both are made from the list in one line of JSON. What stands around the items is found in the text of a list with one
simple item. Pure. Must hold: the items between head and tail are the text of the whole list.
"""

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from aio_apiserver.apiserver.handlers.list_bodies import ItemEncoder, ListFrame
from aio_apiserver.apiserver.handlers.object_encoders import JsonList
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.storage.stored_object import StoredObject

_ONE = b"0"
"""The simple item."""
_INDENT = b"\n    "
"""A line of an item, which is an element of an array in an object."""


def in_lines(listed: JsonList, media_type: str) -> JsonList:
    """The list in YAML, or as indented JSON."""
    return _as_yaml(listed) if media_type == media_types.YAML else _as_indented(listed)


def without_items(listed: JsonList) -> Any:
    """The value of a list without items."""
    return orjson.loads(listed.frame.head + listed.frame.tail)


def _as_indented(listed: JsonList) -> JsonList:
    text = orjson.dumps(_with_one_item(listed.frame), option=orjson.OPT_INDENT_2)
    head, _, tail = text.partition(b'\n  "%b": [\n    0\n  ]' % listed.member.encode())
    frame = ListFrame(b'%b\n  "%b": [\n    ' % (head, listed.member.encode()), b"\n  ]" + tail, b",\n    ")
    return listed._replace(frame=frame, encoder=_with_text(listed.encoder, _indented))


def _as_yaml(listed: JsonList) -> JsonList:
    head, name, tail = yaml.dump(_with_one_item(listed.frame)).partition(b"\n%b:\n" % listed.member.encode())
    frame = ListFrame(head + name, tail.removeprefix(b"- 0\n"), b"")
    return listed._replace(frame=frame, encoder=_with_text(listed.encoder, _element))


def _with_one_item(frame: ListFrame) -> Any:
    return orjson.loads(frame.head + _ONE + frame.tail)


def _with_text(encoder: ItemEncoder, text_of: Callable[[Any], bytes]) -> ItemEncoder:
    """The encoder of items whose JSON becomes a text."""
    inner = encoder.finish

    def finish(objects: Sequence[StoredObject], kept: Sequence[Any]) -> list[bytes]:
        return [text_of(orjson.loads(item)) for item in (kept if inner is None else inner(objects, kept))]

    return ItemEncoder(encoder.keep, finish, is_copy=False)


def _indented(item: Any) -> bytes:
    return orjson.dumps(item, option=orjson.OPT_INDENT_2).replace(b"\n", _INDENT)


def _element(item: Any) -> bytes:
    return yaml.dump([item])

"""Elements: path elements of FieldsV1: one step into an object.

`f:name` is a member, `k:{"name":"c"}` a list element by its keys, `v:"x"` a set element by its value, `i:0` an element
by its index.

Pure. Must hold: equal elements have equal texts, so that texts can be compared and used as dict keys.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from aio_apiserver.registry.base.golang import text as gotext
from aio_apiserver.registry.base.golang.quoting import quote

FIELD, KEYS, VALUE, INDEX = "f:", "k:", "v:", "i:"
_KINDS = (FIELD, KEYS, VALUE, INDEX)
_REMEMBERED = 8192
LONGEST_REMEMBERED = 256
"""Clients choose the elements, so the cache has a limited number of entries of limited length."""
_EXACT = 2**53
_ESCAPED = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
"""The characters that Go's JSON encoder escapes."""

Path = tuple[str, ...]


def field(name: str) -> str:
    """The element of a map member."""
    return FIELD + name


def of_keys(values: Mapping[str, Any]) -> str:
    """The element of a list element, by its keys."""
    pairs = (f"{orjson.dumps(name).decode()}:{_json(values[name])}" for name in sorted(values))
    return f"{KEYS}{{{','.join(pairs)}}}"


def of_key_values(names: tuple[str, ...], values: tuple[Any, ...]) -> str:
    """The same from sorted names and their values. Cached, because objects repeat the same few."""
    size = sum(map(len, names))
    for value in values:
        if type(value) is str:
            size += len(value)
        elif type(value) is not int:
            return of_keys(dict(zip(names, values, strict=True)))
    return (
        _of_plain_keys(names, values) if size <= LONGEST_REMEMBERED else of_keys(dict(zip(names, values, strict=True)))
    )


@lru_cache(maxsize=_REMEMBERED)
def of_text_key(name: str, text: str) -> str:
    """The same for one key with a text value, both of which are short."""
    return of_keys({name: text})


@lru_cache(maxsize=_REMEMBERED)
def _of_plain_keys(names: tuple[str, ...], values: tuple[int | str, ...]) -> str:
    return of_keys(dict(zip(names, values, strict=True)))


def of_value(value: Any) -> str:
    """The element of a set element."""
    return VALUE + _json(value)


def _json(value: Any) -> str:
    return orjson.dumps(_plain(value), option=orjson.OPT_SORT_KEYS).decode().translate(_ESCAPED)


def _plain(value: Any) -> Any:
    """A whole number has one text, with and without fraction."""
    return int(value) if type(value) is float and value.is_integer() and abs(value) < _EXACT else value


def normalized(text: str) -> str | None:
    """The canonical text of a client's element; None for an unknown kind. Raises ValueError."""
    return _remembered_form(text) if len(text) <= LONGEST_REMEMBERED else _form(text)


def _form(text: str) -> str | None:
    kind, rest = text[:2], text[2:]
    if len(text) < 2:
        raise ValueError("key must be 2 characters long:")
    if kind[1] != ":":
        raise ValueError(f"missing colon: {text}")
    match kind:
        case "f:":
            return text
        case "k:":
            return of_keys(_keys(rest))
        case "v:":
            return of_value(orjson.loads(rest))
        case "i:":
            return f"{INDEX}{int(rest)}"
    return None


def _keys(text: str) -> Mapping[str, Any]:
    keys = orjson.loads(text)
    if not isinstance(keys, dict):
        raise ValueError(f"no keys: {text}")
    return keys


def order(text: str) -> tuple[Any, ...]:
    """The sort key of an element: fields, then keys, values, indexes; numbers by value. The mark `.` comes first."""
    return _remembered_order(text) if len(text) <= LONGEST_REMEMBERED else _order(text)


def _order(text: str) -> tuple[Any, ...]:
    kind, rest = text[:2], text[2:]
    match kind:
        case "f:":
            return (0, rest)
        case "k:":
            return (1, tuple((name, _value_order(value)) for name, value in orjson.loads(rest).items()))
        case "v:":
            return (2, _value_order(orjson.loads(rest)))
        case "i:":
            return (3, int(rest))
    return (-1,)


def _value_order(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, int | float):
        return (0, value)
    if isinstance(value, str):
        return (1, value)
    return (3 if value is not None else 4, orjson.dumps(value))


_remembered_form = lru_cache(maxsize=_REMEMBERED)(_form)
_remembered_order = lru_cache(maxsize=_REMEMBERED)(_order)


def path_text(path: Iterable[str]) -> str:
    """A path as in messages: `.spec.containers[name="c"].image`."""
    return "".join(map(_text, path))


def _text(element: str) -> str:
    kind, rest = element[:2], element[2:]
    match kind:
        case "f:":
            return f".{rest}"
        case "k:":
            return f"[{','.join(f'{name}={_value_text(value)}' for name, value in orjson.loads(rest).items())}]"
        case "v:":
            return f"[={_value_text(orjson.loads(rest))}]"
    return f"[{rest}]"


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        return "".join(f"{name}={_value_text(one)}" for name, one in value.items())
    if isinstance(value, list):
        return f"[{','.join(map(_value_text, value))}]"
    if isinstance(value, float) or (isinstance(value, int) and value > gotext.MOST_INT64):
        return gotext.float_text(float(value))
    return orjson.dumps(value).decode()

"""Conversion: values of JSON as expressions see them, by the schema that describes them.

Pure. Must hold: what needs no conversion is handed over as it is, not copied; nothing is changed.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from aio_apiserver.registry.machinery.cel import names, times
from aio_apiserver.registry.machinery.cel.schema_types import Schema, with_type_and_metadata
from aio_apiserver.registry.machinery.cel.values import SECOND, Duration, EvaluationError, UnorderedList

Convert = Callable[[Any], Any]


def converter(schema: Schema, *, is_resource: bool = False) -> Convert | None:
    """How values of a schema are converted; None when they are right as they are."""
    if is_resource:
        schema = with_type_and_metadata(schema)
    match schema.get("type"):
        case "array":
            return _list(schema)
        case "object":
            return _object(schema)
        case "number":
            return _number
        case "string":
            return _FORMATS.get(str(schema.get("format")))
    return None


def _below(schema: Any) -> Convert | None:
    if not isinstance(schema, Mapping):
        return None
    return converter(schema, is_resource=bool(schema.get("x-kubernetes-embedded-resource")))


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _timestamp(value: Any) -> Any:
    return _parsed(value, times.parse_timestamp, "timestamp")


def _date(value: Any) -> Any:
    return _parsed(value, lambda text: times.parse_timestamp(f"{text}T00:00:00Z"), "date")


def _duration(value: Any) -> Any:
    return _parsed(value, lambda text: times.parse_duration(text) or _spoken(text), "duration")


def _spoken(text: str) -> Duration | None:
    """A duration in words: `1 day`."""
    factors = [
        (int(number), factor)
        for number, unit in _SPOKEN_PART.findall(text)
        for words, factor in _SPOKEN_UNITS
        if unit.lower() in words or unit.lower().startswith(words[-1])
    ]
    return Duration(sum(number * factor for number, factor in factors)) if factors else None


_SPOKEN_PART = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)")
_SPOKEN_UNITS: Sequence[tuple[tuple[str, ...], int]] = (
    (("ns", "nano"), 1),
    (("us", "µs", "micro"), 10**3),
    (("ms", "milli"), 10**6),
    (("s", "sec"), SECOND),
    (("m", "min"), 60 * SECOND),
    (("h", "hr", "hour"), 3600 * SECOND),
    (("d", "day"), 24 * 3600 * SECOND),
    (("w", "wk", "week"), 7 * 24 * 3600 * SECOND),
)
"""The last word of each may have an end."""


def _check_text(value: Any) -> None:
    """A schema with a format lets lists pass."""
    if isinstance(value, list):
        raise EvaluationError("invalid data, expected string, got []interface {}")


def _parsed(value: Any, parse: Callable[[str], Any], what: str) -> Any:
    _check_text(value)
    if not isinstance(value, str):
        return value
    found = parse(value)
    if found is None:
        raise EvaluationError(f"Invalid {what} {value}")
    return found


def _bytes(value: Any) -> Any:
    _check_text(value)
    if not isinstance(value, str):
        return value
    wrong = next((index for index, char in enumerate(value) if char in "+/"), None)
    if wrong is not None:
        # The format takes the usual alphabet, the conversion that of URLs.
        why = f"illegal base64 data at input byte {wrong}"
        raise EvaluationError(f"Invalid byte formatted string {value}: {why}")
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as exc:
        raise EvaluationError(f"Invalid byte formatted string {value}") from exc


_FORMATS: Mapping[str, Convert] = {
    "date-time": _timestamp,
    "date": _date,
    "duration": _duration,
    "byte": _bytes,
}


def _list(schema: Schema) -> Convert | None:
    element = _below(schema.get("items"))
    key_of = _key_of(schema)
    if element is None and key_of is None:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        elements = [element(one) for one in value] if element is not None else value
        return UnorderedList(elements, key_of) if key_of is not None else elements

    return convert


def _key_of(schema: Schema) -> Callable[[Any], Any] | None:
    """What identifies the elements of a list whose order does not count."""
    match schema.get("x-kubernetes-list-type"):
        case "set":
            return _identity
        case "map":
            keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
            return lambda one: _identity([one.get(key) for key in keys] if isinstance(one, dict) else one)
    return None


def _identity(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=repr)


def _object(schema: Schema) -> Convert | None:
    others = _below(schema.get("additionalProperties"))
    members = {name: _below(below) for name, below in (schema.get("properties") or {}).items()}
    converted = {name: one for name, one in members.items() if one is not None}
    renamed = {name: names.escape(name) for name in members}
    renamed = {name: escaped for name, escaped in renamed.items() if escaped not in (None, name)}
    if not converted and not renamed and others is None:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        seen = {}
        for name, one in value.items():
            change = converted.get(name, others if name not in members else None)
            seen[renamed.get(name) or name] = change(one) if change is not None else one
        return seen

    return convert

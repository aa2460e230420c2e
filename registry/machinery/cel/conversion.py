"""Conversion: converts JSON values to CEL values, as the OpenAPI schema describes them.

Pure. Must hold: a value that needs no conversion is passed on without a copy. The JSON is not changed.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.machinery.cel import names, times
from aio_apiserver.registry.machinery.cel.schema_types import Schema, with_type_and_metadata
from aio_apiserver.registry.machinery.cel.values import (
    SECOND,
    Duration,
    EvaluationError,
    UnorderedList,
    identity,
    whole_number,
)

Convert = Callable[[Any], Any]


def converter(schema: Schema, *, is_resource: bool = False) -> Convert | None:
    """The conversion for values of a schema; None when they need none."""
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
    """A duration in words such as `1 day`; None for other text."""
    factors = [
        (whole_number(number) or 0, factor)
        for number, unit in _SPOKEN_PART.findall(text)
        for words, factor in _SPOKEN_UNITS
        if unit.lower() in words or unit.lower().startswith(words[-1])
    ]
    return Duration(sum(number * factor for number, factor in factors)) if factors else None


_SPOKEN_PART = re.compile(r"(?<![0-9])([0-9]++)\s*+([A-Za-zµ]+)")
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
"""The last word of each row may have an ending."""


def _check_text(value: Any) -> None:
    """A schema with a format accepts lists, which upstream refuses here."""
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
        # The OpenAPI format uses the standard alphabet, the conversion upstream uses the URL alphabet.
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
    """The key of an element in a list whose order does not count."""
    match schema.get("x-kubernetes-list-type"):
        case "set":
            return identity
        case "map":
            keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
            return lambda one: identity([one.get(key) for key in keys] if isinstance(one, dict) else one)
    return None


def _object(schema: Schema) -> Convert | None:
    """For an object with properties. Expressions see a property that is null as absent."""
    others = _below(schema.get("additionalProperties"))
    properties = schema.get("properties") or {}
    converted = {name: change for name, below in properties.items() if (change := _below(below)) is not None}
    renamed = _renamed(properties)
    absent = {name for name, below in properties.items() if below.get("nullable")}
    if not converted and not renamed and not absent and others is None:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        seen = {}
        for name, one in value.items():
            if one is None and name in absent:
                continue
            change = converted.get(name) if name in properties else others
            seen[renamed.get(name) or name] = change(one) if change is not None else one
        return seen

    return convert


def _renamed(properties: Mapping[str, Schema]) -> Mapping[str, str]:
    """The properties that have another name in expressions, with that name."""
    escaped = {name: names.escape(name) for name in properties}
    return {name: other for name, other in escaped.items() if other is not None and other != name}

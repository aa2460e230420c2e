"""Combinations of schemas: anyOf, oneOf, allOf and not.

Must hold: alternatives are tried in order; of those of which none is right, the one that fits best says what is wrong.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural.plain import is_plain
from aio_apiserver.registry.machinery.schema.validation.correlation import Correlated
from aio_apiserver.registry.machinery.schema.validation.result import Result

if TYPE_CHECKING:
    from aio_apiserver.registry.machinery.schema.validation.values import Validation


def check(
    validation: "Validation", result: Result, value: Any, schema: Schema, name: str, old: Correlated | None
) -> None:
    """Note what is wrong with a value by the combinations of a schema."""

    def tried(alternatives: Sequence[Schema]) -> Iterator[Result]:
        return (validation.checked(value, one, name, old) for one in alternatives)

    if schema.get("anyOf"):
        _any_of(validation, result, tried(schema["anyOf"]), name)
    if schema.get("oneOf"):
        _one_of(validation, result, list(tried(schema["oneOf"])), name)
    if schema.get("allOf"):
        _all_of(validation, result, list(tried(schema["allOf"])), name)
    excluded = schema.get("not")
    if excluded is not None and validation.checked(value, excluded, name, old).is_valid:
        validation.general(result, f"{quote(name)} must not validate the schema (not)")


def count(schema: Any) -> int:
    """How many schemas are combined within a schema."""
    if not isinstance(schema, dict) or is_plain(schema):
        return 0
    combined = [one for word in ("anyOf", "oneOf", "allOf") for one in schema.get(word) or ()]
    below = [*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return len(combined) + sum(map(count, (*combined, schema.get("not"), *below)))


def _any_of(validation: "Validation", result: Result, tried: Iterator[Result], name: str) -> None:
    wrong = []
    for one in tried:
        if one.is_valid:
            result.merge([one])
            return
        wrong.append(one)
    validation.general(result, f"{quote(name)} must validate at least one schema (anyOf)")
    result.merge([_best(wrong)])


def _one_of(validation: "Validation", result: Result, tried: list[Result], name: str) -> None:
    right = [one for one in tried if one.is_valid]
    if len(right) == 1:
        result.merge(right)
        return
    found = f"Found {len(right)} valid alternatives" if right else "Found none valid"
    validation.general(result, f"{quote(name)} must validate one and only one schema (oneOf). {found}")
    if not right:
        result.merge([_best(tried)])


def _all_of(validation: "Validation", result: Result, tried: list[Result], name: str) -> None:
    result.merge(tried)
    right = sum(one.is_valid for one in tried)
    if right < len(tried):
        suffix = "" if right else ". None validated"
        validation.general(result, f"{quote(name)} must validate all the schemas (allOf){suffix}")


def _best(tried: list[Result]) -> Result:
    """The first one of those that fit best."""
    return max(tried, key=lambda one: one.matches)

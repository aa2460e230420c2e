"""Rule costs: how often each CEL rule can run for one object, and the limits of the estimated cost. Pure.

The limits for one rule and for all rules of a schema are kube-apiserver's.
"""

from typing import Any

from msgspec import Struct, field

from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.machinery.cel.sizes import HUGE
from aio_apiserver.registry.machinery.schema.model import Schema

RULE_LIMIT = 10_000_000
_SCHEMA_LIMIT = 100_000_000
_MOST_NAMED = 4
_REQUEST_BYTES = 3 * 1024 * 1024
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength "
    "where arrays, maps, and strings are declared)"
)
_PART_OF_TOTAL = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
_TOTAL = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"


def times_below(schema: Schema, times: int | None) -> int | None:
    """How often the values below a schema can occur, when the value of the schema itself occurs `times` times."""
    most: Any = 1
    if schema.get("type") == "object" and schema.get("additionalProperties") is not None:
        most = schema.get("maxProperties")
    elif schema.get("type") == "array":
        most = schema.get("maxItems")
    return None if times is None or most is None else min(times * max(most, 0), HUGE)


def of_rule(cost: int, times: int | None, smallest: int) -> int:
    """The cost of a rule for a whole object. Without limits on the values, the size of a request limits them."""
    return min(cost * (times if times is not None else _REQUEST_BYTES // (smallest + 1)), HUGE)


def excess(what: str, cost: int, limit: int) -> str:
    """The message for an excessive cost, with its factor."""
    factor = cost / limit
    shown = f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x" if factor <= 100 else "more than 100x"
    return f"{what} exceeds budget by factor of {shown} {_ADVICE}"


class Total(Struct):
    """The sum of the costs of all rules, and the most expensive rules with their paths."""

    cost: int = 0
    greatest: list[tuple[int, str]] = field(default_factory=list)

    def add(self, cost: int, path: str) -> None:
        self.cost = min(self.cost + cost, HUGE)
        if cost >= _SCHEMA_LIMIT // 100:
            self.greatest.append((cost, path))
            self.greatest.sort(key=lambda one: -one[0])
            del self.greatest[_MOST_NAMED:]

    def errors(self, path: str) -> list[FieldError]:
        """The errors for a sum above the limit."""
        if self.cost <= _SCHEMA_LIMIT:
            return []
        named = [fields.forbidden(where, _PART_OF_TOTAL) for _, where in self.greatest]
        return [*named, fields.forbidden(path, excess(_TOTAL, self.cost, _SCHEMA_LIMIT))]

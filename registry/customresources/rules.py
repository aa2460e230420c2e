"""Rules in CEL: where they come in, when a definition states them and when an object is to follow them."""

from collections.abc import Mapping
from typing import Any

from registry.schema.model import Schema
from registry.validation.field import FieldError


def check(schema: Schema, path: str, *, before: Schema | None) -> list[FieldError]:
    """What is wrong with the rules of a whole schema, which is sound otherwise.

    `before` is the schema of the same version in the definition that is replaced: rules that stand there already are
    not measured again.
    """
    return []


def evaluate(
    schema: Schema, new: Mapping[str, Any], old: Mapping[str, Any] | None, *, path: str = ""
) -> list[FieldError]:
    """What the rules of a schema say of a typed object, or (with a path) of a default, which replaces an old one."""
    return []

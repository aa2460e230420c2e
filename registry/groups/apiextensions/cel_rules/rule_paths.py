"""Rule paths: resolves the fieldPath of a CEL rule, `.a.b['c']`, relative to the value of the rule. Pure."""

import re

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.machinery.schema.model import Schema

_STEP = re.compile(r"\.(?P<name>[^.\[\]]+)|\['(?P<quoted>(?:[^'\\]|\\.)*)'\]")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def member_path(path: str, relative: str, schema: Schema) -> str:
    """The path of the field that a rule reports: the value itself, or a field in it."""
    at = 0
    below: Schema | None = schema
    while at < len(relative):
        match = _STEP.match(relative, at)
        if match is None or below is None:
            return path
        name = match["name"] or _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), match["quoted"] or "")
        properties = below.get("properties")
        if properties is not None:
            path, below = field.child(path, name), properties.get(name)
        else:
            others = below.get("additionalProperties")
            path, below = f"{path}[{name}]", others if isinstance(others, dict) else None
        at = match.end()
    return path

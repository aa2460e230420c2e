"""Field paths: resolves a path such as `.spec.items['a.b']` in the schema of a custom resource. Pure."""

import re
from collections.abc import Iterator

from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import members

_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {**dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)), "'": "'", "\\": "\\"}


class InvalidFieldPath(Exception):
    """The path does not lead to a field. The message has the reason."""


def is_valid(path: str, schema: Schema) -> bool:
    """Whether the path leads to a field."""
    try:
        resolve(path, schema)
    except InvalidFieldPath:
        return False
    return True


def resolve(path: str, schema: Schema, *, allows_brackets: bool = True) -> tuple[list[str], Schema | None]:
    """The names in a path, and the schema at its end. Raises InvalidFieldPath."""
    names: list[str] = []
    found: Schema | None = schema
    tokens = _tokens(path)
    for part in tokens:
        if part == "[":
            if not allows_brackets:
                raise InvalidFieldPath("array notation is not allowed")
            name = _quoted(next(tokens, None))
            found = _step(found, name)
            closing = next(tokens, None)
            if closing is None:
                raise InvalidFieldPath("unexpected end of JSON path")
            if closing != "]":
                raise InvalidFieldPath(f"expected ] but got {closing}")
        elif part == ".":
            following = next(tokens, None)
            if following is None:
                raise InvalidFieldPath("unexpected end of JSON path")
            name = following
            found = _step(found, name)
        else:
            raise InvalidFieldPath(f"expected [ or . but got: {part}")
        names.append(name)
    return names, found


def _step(schema: Schema | None, name: str) -> Schema | None:
    if schema is not None and schema.get("properties"):
        if name not in schema["properties"]:
            raise InvalidFieldPath("does not refer to a valid field")
        below: Schema = schema["properties"][name]
        return below
    if schema is None or schema.get("additionalProperties") is None:
        raise InvalidFieldPath("does not refer to a valid field")
    return members.additional(schema)


def _quoted(token: str | None) -> str:
    if token is None:
        raise InvalidFieldPath("unexpected end of JSON path")
    if len(token) < 2 or not (token.startswith("'") and token.endswith("'")):
        raise InvalidFieldPath(f"expected single quoted string but got {token}")
    return _ESCAPE.sub(_unescaped, token[1:-1])


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1] not in _ESCAPED:
        raise InvalidFieldPath(f"invalid string literal: invalid escape char {escape[0]}")
    return _ESCAPED[escape[1]]


def _tokens(path: str) -> Iterator[str]:
    """The tokens of a path: dots, brackets, and the names between them. A quoted name is one token."""
    position = 0
    while position < len(path):
        end = _end(path, position)
        yield path[position:end]
        position = end


def _end(path: str, start: int) -> int:
    if path[start] in ".[]":
        return start + 1
    is_quoted = path[start] == "'"
    for index in range(start + 1, len(path)):
        if is_quoted and path[index] == "'" and path[index - 1] != "\\":
            return index + 1
        if not is_quoted and path[index] in ".[]":
            return index
    return len(path)

"""Template values: truth, texts, members and order of JSON values in Go's templates.

Pure. A missing member and a null are both None here, and have no members.
"""

from typing import Any


class TemplateFailure(Exception):
    """A template cannot be rendered for an object. The text says why."""


def is_true(value: Any) -> bool:
    """Whether a value is not empty, in the sense of Go's templates."""
    return bool(value)


def printed(value: Any) -> str:
    """A value in the output of an action."""
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{' '.join(map(printed, value))}]"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{printed(value[name])}' for name in sorted(value))}]"
    return str(value)


def member(value: Any, name: str) -> Any:
    """The member of a map. Raises TemplateFailure for a value that has no members."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise TemplateFailure(f"no field {name} in {printed(value)}")
    return value.get(name)


def index(value: Any, *keys: Any) -> Any:
    """The member of nested maps and lists. Raises TemplateFailure for an index that is out of range."""
    for key in keys:
        value = _item(value, key) if isinstance(value, list) else member(value, str(key))
    return value


def _item(value: list[Any], key: Any) -> Any:
    if not isinstance(key, int) or not 0 <= key < len(value):
        raise TemplateFailure(f"the index {printed(key)} is out of range")
    return value[key]

"""Names: CEL identifiers, and the escapes for field names that are no identifiers. Pure."""

import re

_RESERVED = frozenset(
    """true false null in as break const continue else for function if import let loop package namespace return var
    void while""".split()
)
_WORDS = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPED = re.compile(r"__|[-./]")
_IDENTIFIER = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
_ALLOWED = re.compile(r"[A-Za-z_.\-/][A-Za-z0-9_.\-/]*", re.ASCII)


def is_identifier(name: str) -> bool:
    """Whether the text can be the name of a variable."""
    return _IDENTIFIER.fullmatch(name) is not None and name not in _RESERVED


def keyword_field(name: str) -> str | None:
    """The escaped name of a field that is a reserved word, which expressions may also select as it is."""
    return f"__{name}__" if name in _RESERVED else None


def escape(name: str) -> str | None:
    """The identifier of a field; None when the field cannot be accessed."""
    if _ALLOWED.fullmatch(name) is None:
        return None
    if name in _RESERVED:
        return f"__{name}__"
    return _ESCAPED.sub(lambda match: _WORDS[match[0]], name)

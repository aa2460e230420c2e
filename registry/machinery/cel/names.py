"""Names: which are identifiers, and how expressions write fields whose names are none. Pure."""

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
    """Whether a variable can have the name."""
    return _IDENTIFIER.fullmatch(name) is not None and name not in _RESERVED


def escape(name: str) -> str | None:
    """The identifier for a field; None when there can be none."""
    if _ALLOWED.fullmatch(name) is None:
        return None
    if name in _RESERVED:
        return f"__{name}__"
    return _ESCAPED.sub(lambda match: _WORDS[match[0]], name)

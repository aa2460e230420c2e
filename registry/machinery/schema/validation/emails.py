"""Addresses of mail, with or without the name of a person before them, as Go's mail.ParseAddress reads them. Pure."""

from aio_apiserver.registry.machinery.schema.validation import patterns

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\x{80}-\x{10ffff}]+"
_DOT_ATOM = rf"{_ATOM}(?:\.{_ATOM})*"
_QUOTED = r'"(?:[^"\\\r\n]|\\.)*"'
_LITERAL = r"\[[0-9A-Fa-f:.]+\]"
_SPEC = rf"(?:{_DOT_ATOM}|{_QUOTED})@(?:{_DOT_ATOM}|{_LITERAL})"
_PHRASE = rf"(?:(?:{_ATOM}|{_QUOTED}|\.)[ \t]*)+"
_ADDRESS = rf"^[ \t]*(?:{_SPEC}|(?:{_PHRASE})?<{_SPEC}>)[ \t]*$"


def is_address(text: str) -> bool:
    """Whether a text is one address."""
    return patterns.matches(_ADDRESS, text)

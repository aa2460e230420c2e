"""Addresses: the messages of Go's package netip for texts that are no IP address or no CIDR prefix.

Pure. Must hold: the message is about the first mistake from the left.
"""

import re

from aio_apiserver.registry.base.golang.quoting import quote

_HEX = re.compile("[0-9a-fA-F]*", re.ASCII)
_GROUPS = 8


class _Wrong(Exception):
    """A mistake, with the rest of the text from where it begins."""

    def __init__(self, why: str, rest: str = "") -> None:
        super().__init__(why + (f" (at {quote(rest)})" if rest else ""))


def address_mistake(text: str) -> str:
    """The message for a text that is no address."""
    return f"ParseAddr({quote(text)}): {_address_mistake(text)}"


def _address_mistake(text: str) -> str:
    first = next((char for char in text if char in ".:%"), "")
    try:
        if first == ".":
            _check_four(text)
        elif first == ":":
            _check_six(text)
        elif first == "%":
            raise _Wrong("missing IPv6 address")
    except _Wrong as exc:
        return str(exc)
    return "unable to parse IP"


def prefix_mistake(text: str) -> str:
    """The message for a text that is no CIDR prefix."""
    return f"netip.ParsePrefix({quote(text)}): {_prefix_mistake(text)}"


def _prefix_mistake(text: str) -> str:
    address, slash, bits = text.rpartition("/")
    if not slash:
        return "no '/'"
    wrong = _address_mistake(address)
    if wrong != "unable to parse IP" or not any(char in address for char in ".:"):
        return f"ParseAddr({quote(address)}): {wrong}"
    if "%" in address:
        return "IPv6 zones cannot be present in a prefix"
    if not (bits.isascii() and bits.isdigit()) or (len(bits) > 1 and bits.startswith("0")):
        return f"bad bits after slash: {quote(bits)}"
    return "prefix length out of range"


def _check_four(text: str) -> None:
    value, digits, fields = 0, 0, 0
    for index, char in enumerate(text):
        if char.isascii() and char.isdigit():
            if digits == 1 and not value:
                raise _Wrong("IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(char), digits + 1
            if value > 255:
                raise _Wrong("IPv4 field has value >255")
        elif char != ".":
            raise _Wrong("unexpected character", text[index:])
        elif index in (0, len(text) - 1) or text[index - 1] == ".":
            raise _Wrong("IPv4 field must have at least one digit", text[index:])
        elif fields == 3:
            raise _Wrong("IPv4 address too long")
        else:
            value, digits, fields = 0, 0, fields + 1
    if fields < 3:
        raise _Wrong("IPv4 address too short")


def _check_six(text: str) -> None:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _Wrong("zone must be a non-empty string")
    groups, gap = 0, -1
    if rest.startswith("::"):
        gap, rest = 0, rest[2:]
        if not rest:
            return
    while groups < _GROUPS:
        length = _group_length(rest)
        if rest[length : length + 1] == ".":
            _check_embedded(rest, groups, has_gap=gap >= 0)
            groups, rest = groups + 2, ""
            break
        groups, rest = groups + 1, rest[length:]
        if not rest:
            break
        rest, has_gap = _after_colon(rest, has_gap=gap >= 0)
        gap = groups if has_gap else gap
        if not rest:
            break
    _check_groups(groups, rest, has_gap=gap >= 0)


def _check_groups(groups: int, rest: str, *, has_gap: bool) -> None:
    """Whether the address is complete after so many groups. rest: the text that is left."""
    if rest:
        raise _Wrong("trailing garbage after address", rest)
    if groups < _GROUPS and not has_gap:
        raise _Wrong("address string too short")
    if groups >= _GROUPS and has_gap:
        raise _Wrong("the :: must expand to at least one field of zeros")


def _group_length(rest: str) -> int:
    found = _HEX.match(rest)
    length = found.end() if found is not None else 0
    if length > 4:
        raise _Wrong("each group must have 4 or less digits", rest)
    if not length:
        raise _Wrong("each colon-separated field must have at least one digit", rest)
    return length


def _check_embedded(rest: str, groups: int, *, has_gap: bool) -> None:
    if not has_gap and groups != _GROUPS - 2:
        raise _Wrong("embedded IPv4 address must replace the final 2 fields of the address", rest)
    if groups > _GROUPS - 2:
        raise _Wrong("too many hex fields to fit an embedded IPv4 at the end of the address", rest)
    _check_four(rest)


def _after_colon(rest: str, *, has_gap: bool) -> tuple[str, bool]:
    """The rest of the text behind the colon of a group, and whether it begins with the gap `::`."""
    if rest[0] != ":":
        raise _Wrong("unexpected character, want colon", rest)
    if len(rest) == 1:
        raise _Wrong("colon must be followed by more characters", rest)
    rest = rest[1:]
    if rest[0] != ":":
        return rest, False
    if has_gap:
        raise _Wrong("multiple :: in address", rest)
    return rest[1:], True

"""IP addresses as old fields take them: any spelling that means one address only. Pure.

Must hold: an address with leading zeros, or of IPv4 in the clothes of IPv6, is told apart from what is no address: it
once was allowed, so that an object that has it already may keep it.
"""

import re
from collections.abc import Collection, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

from registry.validation import field
from registry.validation.field import FieldError

_NOT_AN_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_LEADING_ZEROS = "must not have leading 0s"
_MAPPED = "must not be an IPv4-mapped IPv6 address"

_DOTTED = re.compile(r"(.*:)?(\d{1,6})\.(\d{1,6})\.(\d{1,6})\.(\d{1,6})", re.ASCII)


def validate_ip(value: str, path: str, *, known: Collection[str] = ()) -> list[FieldError]:
    """What is wrong with an address that is not among those that the object has had before."""
    if value in known:
        return []
    return [field.invalid(path, value, message) for message in check_ip(value)]


def check_ip(value: str) -> list[str]:
    """What is wrong with an address."""
    address = parse_ip(value)
    if address is None:
        return [_NOT_AN_ADDRESS]
    if _parsed(value) is None:
        return [_LEADING_ZEROS]
    return [_MAPPED] if isinstance(address, IPv6Address) and address.ipv4_mapped is not None else []


def parse_ip(value: str) -> IPv4Address | IPv6Address | None:
    """The address that a text means, leading zeros or not; None when it means none."""
    return _parsed(value) or _parsed(_without_zeros(value))


def is_dual_stack(values: Sequence[str]) -> bool:
    """Whether there are addresses of both families. Raises ValueError for what is no address."""
    addresses = [parse_ip(value) for value in values]
    for value, address in zip(values, addresses, strict=True):
        if address is None:
            raise ValueError(value)
    return len({_family(address) for address in addresses}) > 1


def _family(address: IPv4Address | IPv6Address | None) -> int:
    return 4 if isinstance(address, IPv4Address) or (address is not None and address.ipv4_mapped is not None) else 6


def _parsed(value: str) -> IPv4Address | IPv6Address | None:
    if "%" in value:
        return None
    try:
        return ip_address(value)
    except ValueError:
        return None


def _without_zeros(value: str) -> str:
    match = _DOTTED.fullmatch(value)
    if match is None:
        return ""
    return (match[1] or "") + ".".join(str(int(match[number])) for number in range(2, 6))

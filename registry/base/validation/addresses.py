"""IP addresses and blocks as old fields take them: any spelling that means one address only. Pure.

Must hold: an address with leading zeros, or of IPv4 in the clothes of IPv6, is told apart from what is no address: it
once was allowed, so that an object that has it already may keep it (`known`).
"""

import re
from collections.abc import Collection
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
)

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError

Address = IPv4Address | IPv6Address
Interface = IPv4Interface | IPv6Interface
Network = IPv4Network | IPv6Network

_NOT_AN_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_LEADING_ZEROS = "must not have leading 0s"
_MAPPED = "must not be an IPv4-mapped IPv6 address"
_NOT_A_BLOCK = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_BLOCK_LEADING_ZEROS = "must not have leading 0s in IP or prefix length"
_BLOCK_MAPPED = "must not have an IPv4-mapped IPv6 address"
_BITS_BEYOND = "must not have bits set beyond the prefix length"

_DOTTED = re.compile(r"(.*:)?(\d{1,6})\.(\d{1,6})\.(\d{1,6})\.(\d{1,6})", re.ASCII)
_LENGTH = re.compile(r"\d{1,6}", re.ASCII)


def parse(text: str) -> Address | None:
    """The address that a text means, leading zeros or not; IPv4 whatever it is written as. None when it means none."""
    return _plain(_strict(text) or _strict(_without_zeros(text)))


def is_v6(text: str) -> bool:
    return isinstance(parse(text), IPv6Address)


def validate_legacy(text: str, path: str, known: Collection[str] = ()) -> list[FieldError]:
    """What is wrong with an address that is not among those that the object has had before."""
    if text in known:
        return []
    return field.invalid_each(path, text, check(text))


def check(text: str) -> list[str]:
    """What is wrong with an address."""
    if parse(text) is None:
        return [_NOT_AN_ADDRESS]
    strict = _strict(text)
    if strict is None:
        return [_LEADING_ZEROS]
    return [_MAPPED] if _is_mapped(strict) else []


def validate(text: str, path: str) -> list[FieldError]:
    """What is wrong with an address of a newer field: it has one spelling."""
    messages = check(text)
    if not messages and text != str(parse(text)):
        messages = [_canonical_form(str(parse(text)))]
    return field.invalid_each(path, text, messages)


def validate_cidr(text: str, path: str) -> list[FieldError]:
    """What is wrong with a block of a newer field: it has one spelling."""
    errors = validate_legacy_cidr(text, path)
    network = str(parse_cidr(text))
    return errors if errors or text == network else [field.invalid(path, text, _canonical_form(network))]


def parse_cidr(text: str) -> Network | None:
    """The block that a text means, leading zeros and bits beyond the length or not."""
    block = _parse_block(text)
    return block.network if block is not None else None


def version_of(network: Network) -> int:
    """The version of the addresses of a block: those of IPv4 are that, whatever they are written as."""
    return 4 if _is_mapped(network.network_address) else network.version


def is_strictly_within(part: Network, whole: Network) -> bool:
    """Whether a block begins in another one and has a longer prefix, as the prefixes are written."""
    address, network = _plain(part.network_address), _plain_network(whole)
    return address in network and part.prefixlen > whole.prefixlen


def family_of(text: str) -> str:
    """The IP family of an address."""
    address = parse(text)
    return f"IPv{address.version}" if address is not None else "unknown"


def _canonical_form(text: str) -> str:
    return f"must be in canonical form ({quote(text)})"


def validate_endpoint(text: str, path: str) -> list[FieldError]:
    """What keeps an address from being one that traffic can be sent to."""
    address = parse(text)
    if address is None:
        return [field.invalid(path, text, "must be a valid IP address")]
    rules = (
        (address.is_unspecified, f"may not be unspecified ({text})"),
        (address.is_loopback, "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (address.is_link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
        (_is_link_local_multicast(address), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
    )
    return [field.invalid(path, text, message) for is_wrong, message in rules if is_wrong]


def validate_legacy_cidr(text: str, path: str, known: Collection[str] = ()) -> list[FieldError]:
    """What is wrong with a block that is not among those that the object has had before."""
    if text in known:
        return []
    block = _parse_block(text)
    if block is None:
        return [field.invalid(path, text, _NOT_A_BLOCK)]
    strict = _strict_block(text)
    if strict is None:
        return [field.invalid(path, text, _BLOCK_LEADING_ZEROS)]
    if _is_mapped(strict.ip):
        return [field.invalid(path, text, _BLOCK_MAPPED)]
    return [field.invalid(path, text, _BITS_BEYOND)] if strict.ip != strict.network.network_address else []


def warn(text: str, path: str) -> list[str]:
    """What the client should hear of the spelling of an address; nothing of what is no address."""
    address, strict = parse(text), _strict(text)
    if address is None:
        return []
    if strict is None or _is_mapped(strict):
        return [f"{path}: non-standard IP address {quote(text)} is invalid: use {quote(str(address))}"]
    if isinstance(strict, IPv6Address) and str(strict) != text:
        canonical = quote(str(strict))
        return [f"{path}: IPv6 address {quote(text)} should be in RFC 5952 canonical format ({canonical})"]
    return []


def warn_cidr(text: str, path: str) -> list[str]:
    """What the client should hear of the spelling of a block; nothing of what is no block."""
    block, strict = _parse_block(text), _strict_block(text)
    if block is None:
        return []
    found, network = [], quote(str(block.network))
    if block.ip != block.network.network_address:
        single = quote(f"{block.ip}/{block.max_prefixlen}")
        why = f"is ambiguous in this context (should be {network} or {single}?)"
        found.append(f"{path}: CIDR value {quote(text)} {why}")
    if strict is None or _is_mapped(strict.ip):
        found.append(f"{path}: non-standard CIDR value {quote(text)} is invalid: use {network}")
    if not found and isinstance(strict, IPv6Interface) and str(strict) != text:
        canonical = quote(str(strict))
        found.append(f"{path}: IPv6 CIDR value {quote(text)} should be in RFC 5952 canonical format ({canonical})")
    return found


def _strict(text: str) -> Address | None:
    if "%" in text:
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None


def _strict_block(text: str) -> Interface | None:
    address, slash, length = text.partition("/")
    is_number = slash and _LENGTH.fullmatch(length) and str(int(length)) == length
    if not is_number or _strict(address) is None:
        return None
    try:
        return ip_interface(text)
    except ValueError:
        return None


def _parse_block(text: str) -> Interface | None:
    address, slash, length = text.partition("/")
    parsed = _strict(address) or _strict(_without_zeros(address))
    if parsed is None or not slash or not _LENGTH.fullmatch(length) or int(length) > parsed.max_prefixlen:
        return None
    return ip_interface(f"{parsed}/{int(length)}")


def _without_zeros(text: str) -> str:
    match = _DOTTED.fullmatch(text)
    if match is None:
        return ""
    return (match[1] or "") + ".".join(str(int(match[number])) for number in range(2, 6))


def _plain(address: Address | None) -> Address | None:
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _plain_network(network: Network) -> Network:
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    return network if mapped is None else IPv4Network((mapped, network.prefixlen - 96))


def _is_mapped(address: Address) -> bool:
    return isinstance(address, IPv6Address) and address.ipv4_mapped is not None


def _is_link_local_multicast(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return str(address).startswith("224.0.0.")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 2

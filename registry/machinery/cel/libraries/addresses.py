"""IP addresses and blocks of them (CIDR)."""

import ipaddress
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base.golang import addresses
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.types import opaque
from aio_apiserver.registry.machinery.cel.values import EvaluationError, Opaque

IP = opaque("net.IP")
CIDR = opaque("net.CIDR")

_NO_BLOCK = "network address parse error during conversion from string: "

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface


class Address(Struct, Opaque, frozen=True):
    """One address."""

    address: _Address
    type_name = IP.name

    @property
    def size(self) -> int:
        return len(self.address.packed)


class Block(Struct, Opaque, frozen=True):
    """An address with the length of its prefix."""

    interface: _Interface
    type_name = CIDR.name

    @property
    def size(self) -> int:
        return (self.interface.network.prefixlen + 7) // 8


def _parse_ip(text: str) -> Address:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        why = addresses.address_mistake(text)
        raise EvaluationError(f"IP Address {quote(text)} parse error during conversion from string: {why}") from None
    if "%" in text:
        raise EvaluationError(f'IP address "{text}" with zone value is not allowed')
    if _is_mapped(address):
        raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return Address(address)


def _parse_cidr(text: str) -> Block:
    address, slash, length = text.rpartition("/")
    try:
        if not slash or not length.isdecimal() or (length != "0" and length.startswith("0")) or "%" in address:
            raise ValueError(text)
        interface = ipaddress.ip_interface(text)
    except ValueError:
        raise EvaluationError(f"{_NO_BLOCK}{_NO_BLOCK}{addresses.prefix_mistake(text)}") from None
    if _is_mapped(interface.ip):
        raise EvaluationError(f'{_NO_BLOCK}IPv4-mapped IPv6 address "{text}" is not allowed')
    return Block(interface)


def _is_mapped(address: _Address) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None


def _can(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def test(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return test


def _is_canonical(text: str) -> bool:
    return str(_parse_ip(text).address) == text


def _is_link_local_multicast(of: Address) -> bool:
    packed = of.address.packed
    if of.address.version == 4:
        return packed[:3] == bytes((224, 0, 0))
    return packed[0] == 0xFF and packed[1] & 0x0F == 0x02


def _is_global_unicast(of: Address) -> bool:
    address = of.address
    is_broadcast = address.version == 4 and address.packed == b"\xff" * 4
    return not (
        address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local or is_broadcast
    )


def _contains_ip(block: Block, of: Address | str) -> bool:
    wanted = of if isinstance(of, Address) else _parse_ip(of)
    return wanted.address in block.interface.network


def _contains_cidr(block: Block, of: Block | str) -> bool:
    wanted = of if isinstance(of, Block) else _parse_cidr(of)
    network, outer = wanted.interface.network, block.interface.network
    return network.version == outer.version and network.prefixlen >= outer.prefixlen and wanted.interface.ip in outer


LIBRARY = Library(
    functions(
        {
            "ip": [("string_to_ip", "(string) -> IP"), ("cidr_ip", "CIDR.() -> IP")],
            "family": [("ip_family", "IP.() -> int")],
            "ip.isCanonical": [("ip_is_canonical", "(string) -> bool")],
            "isUnspecified": [("ip_is_unspecified", "IP.() -> bool")],
            "isLoopback": [("ip_is_loopback", "IP.() -> bool")],
            "isLinkLocalMulticast": [("ip_is_link_local_multicast", "IP.() -> bool")],
            "isLinkLocalUnicast": [("ip_is_link_local_unicast", "IP.() -> bool")],
            "isGlobalUnicast": [("ip_is_global_unicast", "IP.() -> bool")],
            "isIP": [("is_ip", "(string) -> bool")],
            "cidr": [("string_to_cidr", "(string) -> CIDR")],
            "isCIDR": [("is_cidr", "(string) -> bool")],
            "containsIP": [
                ("cidr_contains_ip_string", "CIDR.(string) -> bool"),
                ("cidr_contains_ip_ip", "CIDR.(IP) -> bool"),
            ],
            "containsCIDR": [
                ("cidr_contains_cidr_string", "CIDR.(string) -> bool"),
                ("cidr_contains_cidr", "CIDR.(CIDR) -> bool"),
            ],
            "prefixLength": [("cidr_prefix_length", "CIDR.() -> int")],
            "masked": [("cidr_masked", "CIDR.() -> CIDR")],
            "string": [("ip_to_string", "(IP) -> string"), ("cidr_to_string", "(CIDR) -> string")],
        },
        {"IP": IP, "CIDR": CIDR},
    ),
    {
        "string_to_ip": _parse_ip,
        "cidr_ip": lambda block: Address(block.interface.ip),
        "ip_family": lambda of: of.address.version,
        "ip_is_canonical": _is_canonical,
        "ip_is_unspecified": lambda of: of.address.is_unspecified,
        "ip_is_loopback": lambda of: of.address.is_loopback,
        "ip_is_link_local_multicast": _is_link_local_multicast,
        "ip_is_link_local_unicast": lambda of: of.address.is_link_local,
        "ip_is_global_unicast": _is_global_unicast,
        "is_ip": _can(_parse_ip),
        "string_to_cidr": _parse_cidr,
        "is_cidr": _can(_parse_cidr),
        "cidr_contains_ip_string": _contains_ip,
        "cidr_contains_ip_ip": _contains_ip,
        "cidr_contains_cidr_string": _contains_cidr,
        "cidr_contains_cidr": _contains_cidr,
        "cidr_prefix_length": lambda block: block.interface.network.prefixlen,
        "cidr_masked": lambda block: Block(ipaddress.ip_interface(block.interface.network)),
        "ip_to_string": lambda of: str(of.address),
        "cidr_to_string": lambda block: str(block.interface),
    },
)

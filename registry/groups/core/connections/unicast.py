"""Unicast: whether an IP address is a global unicast address, to which a proxy may connect. Pure.

Servers on loopback or link-local addresses often trust every client, so proxies must not reach them (CVE-2020-8562).

An IPv6 address can contain an IPv4 address, which gateways and tunnels extract on the way:

    ::a.b.c.d          IPv4-compatible   the last 32 bits
    64:ff9b::a.b.c.d   NAT64             the last 32 bits; 64:ff9b:1::/48 is for local use
    2002:aabb:ccdd::   6to4              the 32 bits after the prefix
    2001:0:...         Teredo            the last 32 bits, inverted
    ...:5efe:a.b.c.d   ISATAP            the last 32 bits

Must hold: the contained IPv4 address has to pass the same check.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from aio_apiserver.registry.base.validation import addresses

_THIS_NETWORK = IPv4Network("0.0.0.0/8")
_BROADCAST = IPv4Address("255.255.255.255")
_LAST = 0xFFFFFFFF
_ENDING_IN_IPV4 = (IPv6Network("::/96"), IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_global(text: str) -> bool:
    """Whether the text is a global unicast address. A contained IPv4 address has to be one as well."""
    address = addresses.parse(text)
    if address is None or not _is_unicast(address):
        return False
    embedded = _embedded_ipv4(address) if isinstance(address, IPv6Address) else None
    return embedded is None or _is_unicast(embedded)


def _is_unicast(address: IPv4Address | IPv6Address) -> bool:
    if address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local:
        return False
    return isinstance(address, IPv6Address) or (address != _BROADCAST and address not in _THIS_NETWORK)


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address contains; None when it contains none."""
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    number = int(address)
    if any(address in network for network in _ENDING_IN_IPV4) or (number >> 32) & _LAST in _ISATAP:
        return IPv4Address(number & _LAST)
    return None

"""Unicast addresses: whether an address belongs to one machine of the network. Pure.

Proxies lead nowhere else: what listens on this host, or on its link, trusts whoever can reach it (CVE-2020-8562).
IPv6 has addresses that stand for one of IPv4, which gateways and tunnels unpack on the way:

    ::a.b.c.d             IPv4-compatible    the last 32 bits
    64:ff9b::a.b.c.d      NAT64              the last 32 bits; 64:ff9b:1::/48 is for networks of one's own
    2002:aabb:ccdd::      6to4               the 32 bits behind the prefix
    2001:0:...            Teredo             the last 32 bits, inverted
    ...:5efe:a.b.c.d      ISATAP             the last 32 bits

Must hold: such an address is judged as the address that it stands for.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from aio_apiserver.registry.base.validation import addresses

_THIS_NETWORK = IPv4Network("0.0.0.0/8")
_BROADCAST = IPv4Address("255.255.255.255")
_LAST = 0xFFFFFFFF
_ENDING_IN_IPV4 = (IPv6Network("::/96"), IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_global(text: str) -> bool:
    """Whether it is an address that belongs to one machine of the network."""
    address = addresses.parse(text)
    if address is None or not _is_unicast(address):
        return False
    meant = _meant(address) if isinstance(address, IPv6Address) else None
    return meant is None or _is_unicast(meant)


def _is_unicast(address: IPv4Address | IPv6Address) -> bool:
    if address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local:
        return False
    return isinstance(address, IPv6Address) or (address != _BROADCAST and address not in _THIS_NETWORK)


def _meant(address: IPv6Address) -> IPv4Address | None:
    """The address of IPv4 that stands in one of IPv6."""
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    number = int(address)
    if any(address in network for network in _ENDING_IN_IPV4) or (number >> 32) & _LAST in _ISATAP:
        return IPv4Address(number & _LAST)
    return None

"""Binding: TCP sockets that are bound to an address and do not listen yet.

The supervisor of --workers imports it, so its imports must stay few. Must hold: an unspecified address means all
addresses of both families.
"""

import errno
import os
import socket
import sys
from ipaddress import ip_address

LOOPBACK = "127.0.0.1"
"""The address of the insecure port."""

IS_BALANCED = sys.platform == "linux"
"""Whether the kernel balances connections over all sockets that share a port. macOS hands all to the newest one."""

_NO_SUCH_FAMILY = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


def bind(address: str, port: int, *, is_shared: bool) -> socket.socket:
    """A socket at an address. is_shared: others may bind the same port. Raises OSError."""
    if address and not ip_address(address).is_unspecified:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return _bound(family, (address, port), is_shared=is_shared)
    try:
        return _bound(socket.AF_INET6, ("::", port), is_shared=is_shared)
    except OSError as exc:
        if exc.errno not in _NO_SUCH_FAMILY:
            raise
        return _bound(socket.AF_INET, ("0.0.0.0", port), is_shared=is_shared)  # noqa: S104 asked for


def bind_beside(held: socket.socket) -> socket.socket:
    """Another socket at the address of a socket that shares its port. Raises OSError."""
    return _bound(held.family, held.getsockname()[:2], is_shared=True)


def _bound(family: int, address: tuple[str, int], *, is_shared: bool) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            is_dual = address[0] == "::" and socket.has_dualstack_ipv6()
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, not is_dual)
        made.bind(address)
    except OSError as exc:
        made.close()
        raise OSError(exc.errno, f"{exc.strerror} (while attempting to bind on address {address!r})") from None
    return made

"""Shared ports: SharedPorts, the ports on which several processes listen.

Where the kernel balances connections over sockets with SO_REUSEPORT, each process gets a socket of its own. No
connection then waits for a process that has ended. On other systems all processes accept from one socket.

Must hold: the ports stay bound as long as this process lives. Sockets that are handed over do not listen yet.
"""

import socket
from collections.abc import Sequence

from aio_apiserver.apiserver.wire import binding


class SharedPorts:
    """Addresses and ports. Raises OSError when one is not available."""

    def __init__(self, ports: Sequence[tuple[str, int]]) -> None:
        self._held = [binding.bind(address, port, is_shared=True) for address, port in ports]

    def handed_over(self) -> list[socket.socket]:
        """Sockets that a new process inherits. The caller closes its own copies."""
        given = [binding.bind_beside(held) if binding.IS_BALANCED else held.dup() for held in self._held]
        for one in given:
            one.set_inheritable(True)
        return given

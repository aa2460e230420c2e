"""Connection limits: how many connections the server has at once, one client address, and one Kubernetes user.

A connection counts from the end of its TLS handshake, for its address; from its first request on, for its user too.

Must hold: a connection that has been admitted leaves once. A limit of 0 is none. Files of the process remain for the
store and for connections to other servers.
"""

import resource
from collections.abc import Mapping

_RESERVED_FILES = 1024
"""For clients whose handshake has not ended, for the store, and for connections to other servers."""


class ConnectionLimits:
    """The connections of one server, over all its ports."""

    def __init__(self, *, total: int = 0, per_address: int = 0, per_user: int = 0) -> None:
        self._total = total
        self._per_address = per_address
        self._per_user = per_user
        self._open = 0
        self._by_address: dict[str, int] = {}
        self._by_user: dict[str, int] = {}
        self._refused = {"total": 0, "address": 0, "user": 0}

    def admit(self, address: str) -> bool:
        """Count a new connection. Returns False, and counts it as refused, when there are too many."""
        if 0 < self._total <= self._open:
            return self._refuse("total")
        if 0 < self._per_address <= self._by_address.get(address, 0):
            return self._refuse("address")
        self._open += 1
        self._by_address[address] = self._by_address.get(address, 0) + 1
        return True

    def leave(self, address: str, user: str) -> None:
        """An admitted connection is closed. user: empty when it had none."""
        self._open -= 1
        _decrease(self._by_address, address)
        if user:
            _decrease(self._by_user, user)

    def change_user(self, before: str, user: str) -> bool:
        """Count a connection for the user of its present request. Returns False when the user has too many; then it
        counts for no user.
        """
        if before:
            _decrease(self._by_user, before)
        if 0 < self._per_user <= self._by_user.get(user, 0):
            return self._refuse("user")
        self._by_user[user] = self._by_user.get(user, 0) + 1
        return True

    def statistics(self) -> Mapping[str, int]:
        return {"open": self._open, **{f"refused_{name}": count for name, count in self._refused.items()}}

    def _refuse(self, limit: str) -> bool:
        self._refused[limit] += 1
        return False


def raised_total(wanted: int) -> int:
    """The number of connections for which the process may open files, at most `wanted`. Raises the soft limit of open
    files to the hard one, as Go programs do.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        return wanted
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    possible = max(hard - _RESERVED_FILES, hard // 2)
    return min(wanted, possible) if wanted else possible


def _decrease(counts: dict[str, int], name: str) -> None:
    left = counts[name] - 1
    if left:
        counts[name] = left
    else:
        del counts[name]

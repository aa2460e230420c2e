"""Memory: the bytes that all simulated containers of one server have in files, variables and pipes.

It knows neither files nor processes. Must hold: the bytes of all holders together are at most the limit. A holder that
is gone has no bytes.
"""

MOST_BYTES = 64 * 1024 * 1024


class OutOfMemory(Exception):
    """The simulated containers of the server have no memory left."""


class Memory:
    """The account of one server, or of one judgement of a pod."""

    def __init__(self, limit: int = MOST_BYTES) -> None:
        self.limit = limit
        self.used = 0


class Holder:
    """A file tree or a process, which has bytes of the memory until it is gone."""

    __slots__ = ("_memory", "size")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.size = 0

    def hold(self, size: int) -> None:
        """Have so many bytes from now on. Raises OutOfMemory, and has as many as before then."""
        used = self._memory.used + size - self.size
        if size > self.size and used > self._memory.limit:
            raise OutOfMemory
        self._memory.used, self.size = used, size

    def __del__(self) -> None:
        self._memory.used -= self.size

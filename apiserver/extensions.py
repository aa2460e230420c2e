"""Extensions: the contract of the test bench, which stands above the server and is loaded with --testing.

The server names no other module of the package testing. Must hold: a server without --testing does not import it.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.wire.context import Filter, Handler
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.storage.factory.factory import StorageFactory


class ServerBench(Protocol):
    """The test bench inside of a server."""

    @property
    def with_recording(self) -> Filter:
        """The filter that records requests, behind impersonation."""
        ...

    @property
    def with_faults(self) -> Filter:
        """The filter that injects faults, before the handlers."""
        ...

    def prefixes(self) -> Mapping[str, Handler]:
        """The handlers of the bench by path prefix."""
        ...

    async def begin(self) -> None:
        """Called when the server has created its own objects."""
        ...

    async def begin_with_controllers(self, is_idle: Callable[[], bool]) -> None:
        """Called when the controllers have started. `is_idle` says whether all their work is done."""
        ...


class BenchAssembly(Protocol):
    """The module that makes the bench."""

    def open_clock(self) -> Clock:
        """A clock that can be held."""
        ...

    def open_bench(
        self, settings: Settings, storage: StorageFactory, resources: ServedPaths, clock: Clock
    ) -> ServerBench:
        """Raises ValueError for another clock than that of `open_clock`, and for invalid faults."""
        ...


if TYPE_CHECKING:
    bench: BenchAssembly
else:
    bench = Deferred("aio_apiserver.testing.bench.assembly")

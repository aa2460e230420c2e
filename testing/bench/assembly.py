"""assembly: what a server has that was started with --testing: its clock and its bench.

A server that serves does not import it.
"""

from typing import TYPE_CHECKING

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.testing.bench.bench import Bench
from aio_apiserver.testing.bench.clock import MovableClock

if TYPE_CHECKING:
    from aio_apiserver.testing.bench import fault_rules
else:
    fault_rules = Deferred("aio_apiserver.testing.bench.fault_rules")


def open_clock() -> Clock:
    """A clock that can be held."""
    return MovableClock()


def open_bench(settings: Settings, storage: StorageFactory, resources: ServedPaths, clock: Clock) -> Bench:
    """Raises ValueError for another clock than that of `open_clock`, and for faults that make no sense."""
    if not isinstance(clock, MovableClock):
        raise ValueError("a server for testing needs a clock that can be held")
    given = fault_rules.read(settings.testing_faults) if settings.testing_faults is not None else ()
    return Bench(storage, resources, clock, rules=given)

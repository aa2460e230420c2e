"""Storage as the settings ask for it: the one place where the server chooses its engine."""

from apiserver.settings import Settings
from storage.clock import Clock
from storage.kv.interface import KV
from storage.kv.memory import MemoryKV


async def open_kv(settings: Settings, clock: Clock) -> KV:
    """The key-value engine. Raises StorageError."""
    return MemoryKV(clock=clock)

"""Health: what a store says of itself."""

from msgspec import Struct


class Health(Struct, frozen=True, array_like=True):
    """Whether the engine works. `reason` is a message for people: why not, or a warning of an engine that works."""

    healthy: bool
    reason: str = ""

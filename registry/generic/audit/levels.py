"""Levels and stages: how much of a request is recorded, and when."""

from enum import Enum, IntEnum


class Level(IntEnum):
    """From nothing to everything; a level has all that those before it have."""

    NONE = 0
    METADATA = 1
    REQUEST = 2
    REQUEST_RESPONSE = 3

    @property
    def shown(self) -> str:
        """As policies and events write it."""
        return _LEVELS[self]


_LEVELS = {
    Level.NONE: "None",
    Level.METADATA: "Metadata",
    Level.REQUEST: "Request",
    Level.REQUEST_RESPONSE: "RequestResponse",
}
LEVELS = {shown: level for level, shown in _LEVELS.items()}
"""By what policies write."""


class Stage(Enum):
    """How far a request has come."""

    REQUEST_RECEIVED = "RequestReceived"
    RESPONSE_STARTED = "ResponseStarted"
    RESPONSE_COMPLETE = "ResponseComplete"
    PANIC = "Panic"


STAGES = {stage.value: stage for stage in Stage}

"""Levels and stages: kube-apiserver's audit levels, and the stages of a request."""

from enum import Enum, IntEnum


class Level(IntEnum):
    """From None to RequestResponse; a level contains all that the lower ones contain."""

    NONE = 0
    METADATA = 1
    REQUEST = 2
    REQUEST_RESPONSE = 3

    @property
    def text(self) -> str:
        """The name in policies and events."""
        return _LEVELS[self]


_LEVELS = {
    Level.NONE: "None",
    Level.METADATA: "Metadata",
    Level.REQUEST: "Request",
    Level.REQUEST_RESPONSE: "RequestResponse",
}
LEVELS = {shown: level for level, shown in _LEVELS.items()}
"""By the name in policies."""


class Stage(Enum):
    """The stage of a request."""

    REQUEST_RECEIVED = "RequestReceived"
    RESPONSE_STARTED = "ResponseStarted"
    RESPONSE_COMPLETE = "ResponseComplete"
    PANIC = "Panic"


STAGES = {stage.value: stage for stage in Stage}

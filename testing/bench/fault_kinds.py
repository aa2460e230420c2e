"""Fault kinds: what the test tools of a server can do to a request, to its response or to the events of a watch.

Pure. It does not know the rules, which say for which requests. Must hold: an unknown name is refused with a suggestion.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Literal, NoReturn, TypedDict

from aio_apiserver.apiserver.config.suggestions import did_you_mean


class Fault(Enum):
    """The kinds of faults."""

    LATENCY = "latency"
    """The response comes `delay` seconds later."""
    CONFLICT = "conflict"
    """409: another client has changed the object."""
    THROTTLE = "throttle"
    """429, with `retry_after` seconds."""
    ERROR = "error"
    """The `code`, a 5xx, with `retry_after` seconds if given."""
    CUT_BEFORE = "cut-before"
    """The connection breaks before the request is executed."""
    CUT_AFTER = "cut-after"
    """The connection breaks after the request was executed."""
    GONE = "gone"
    """410: the resource version is too old. An open watch ends with it."""
    STALE = "stale"
    """Gets and lists show the state of `version`, or of the moment at which the rule was made."""
    CUT_WATCH = "cut-watch"
    """The connection of a watch breaks, also of an open one."""
    DUPLICATE = "duplicate"
    """Events of a watch come twice."""
    DELAY = "delay"
    """Events of a watch, and all after them, come `delay` seconds later."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        names = [one.value for one in cls]
        raise ValueError(f"there is no fault {value!r}{did_you_mean(str(value), names)}; there are {', '.join(names)}")


OF_WATCHES = frozenset({Fault.GONE, Fault.CUT_WATCH, Fault.DUPLICATE, Fault.DELAY})
"""The faults of watch events."""

FaultName = Literal[
    "latency",
    "conflict",
    "throttle",
    "error",
    "cut-before",
    "cut-after",
    "gone",
    "stale",
    "cut-watch",
    "duplicate",
    "delay",
]
"""The values of Fault, for type checkers."""


class FaultFields(TypedDict, total=False):
    """The fields of a FaultRule, for type checkers. A list of patterns needs one that fits."""

    id: str
    verb: str | Sequence[str]
    resource: str | Sequence[str]
    namespace: str | Sequence[str]
    name: str | Sequence[str]
    user: str | Sequence[str]
    probability: float
    after: int
    count: int | None
    delay: float
    retry_after: float
    code: int
    version: int

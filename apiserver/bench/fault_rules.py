"""Fault rules: which faults are injected into which requests. One model for Python, files and HTTP.

Pure. A rule without a verb, a resource ... matches all of them. Patterns are those of the shell (`team-*`).

    fault: throttle          # 429 with Retry-After
    verb: [create, patch]
    resource: deployments.apps
    seconds: 2
    count: 3                 # three times, then no more

Must hold: an invalid rule is refused when it is made.
"""

from collections.abc import Sequence
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, NoReturn, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from aio_apiserver.apiserver.wire.request_info import RequestInfo
from aio_apiserver.registry.machinery.serializers import yaml


class Fault(Enum):
    """The kinds of faults."""

    LATENCY = "latency"
    """The response comes `seconds` later."""
    CONFLICT = "conflict"
    """409: another client has changed the object."""
    THROTTLE = "throttle"
    """429, with `seconds` as Retry-After."""
    ERROR = "error"
    """The `code`, a 5xx, with `seconds` as Retry-After if given."""
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
    """Events of a watch, and all after them, come `seconds` later."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ValueError(f"there is no fault {value!r}; there are {', '.join(one.value for one in cls)}")


OF_WATCHES = frozenset({Fault.GONE, Fault.CUT_WATCH, Fault.DUPLICATE, Fault.DELAY})
"""The faults of watch events."""
_OF_WATCHES_ALONE = OF_WATCHES - {Fault.GONE}
_READING = frozenset({"get", "list"})
_TIMED = frozenset({Fault.LATENCY, Fault.DELAY})


def _many(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Patterns = Annotated[tuple[str, ...], BeforeValidator(_many)]


class FaultRule(BaseModel):
    """One fault, and the requests that it is for.

    verb: get, list, watch, create, update, patch, delete, deletecollection. resource: `pods`, `deployments.apps`,
    `pods/status`. after: the number of requests (of a watch: events) that pass first. count: how often it is injected;
    without it there is no limit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: Fault
    id: str = ""
    verb: Patterns = ()
    resource: Patterns = ()
    namespace: Patterns = ()
    name: Patterns = ()
    user: Patterns = ()
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0
    after: Annotated[int, Field(ge=0)] = 0
    count: Annotated[int, Field(ge=1)] | None = None
    seconds: Annotated[float, Field(ge=0)] = 0.0
    code: Annotated[int, Field(ge=500, le=599)] = 500
    version: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.fault in _TIMED and not self.seconds:
            raise ValueError(f"{self.fault.value} needs seconds")
        if self.version is not None and self.fault is not Fault.STALE:
            raise ValueError("only stale reads have a version")
        return self

    def is_for(self, info: RequestInfo, user: str) -> bool:
        """Whether the rule matches a request."""
        return (
            info.is_resource
            and self._fits_verb(info.verb)
            and (not self.resource or any(name in self.resource for name in _names(info)))
            and _fits(self.namespace, info.namespace)
            and _fits(self.name, info.name)
            and _fits(self.user, user)
        )

    def _fits_verb(self, verb: str) -> bool:
        if self.fault in _OF_WATCHES_ALONE and verb != "watch":
            return False
        if self.fault is Fault.STALE and verb not in _READING:
            return False
        return _fits(self.verb, verb)


_RULES: TypeAdapter[list[FaultRule]] = TypeAdapter(list[FaultRule])


def read(path: Path) -> Sequence[FaultRule]:
    """The rules of a file: a list in YAML or JSON. Raises OSError, ValueError."""
    return parse(path.read_bytes(), str(path))


def parse(text: bytes, where: str) -> Sequence[FaultRule]:
    """The rules of a text: a list or a single one. Raises ValueError."""
    document = yaml.read(text).json
    try:
        if document.startswith(b"["):
            return _RULES.validate_json(document)
        return [FaultRule.model_validate_json(document)]
    except ValueError as exc:
        raise ValueError(f"{where}: {exc}") from exc


def _names(info: RequestInfo) -> Sequence[str]:
    """The names by which a rule may call the resource of a request. A subresource has its resource in its name."""
    full = f"{info.resource}.{info.group}" if info.group else info.resource
    if info.subresource:
        return (f"{info.resource}/{info.subresource}", f"{full}/{info.subresource}")
    return (info.resource, full)


def _fits(patterns: Sequence[str], text: str) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)

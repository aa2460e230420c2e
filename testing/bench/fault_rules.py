"""Fault rules: which faults are injected into which requests. One model for Python, files and HTTP.

Pure. A rule without a verb, a resource ... matches all of them. Patterns are those of the shell (`team-*`).

    fault: throttle          # 429 with Retry-After
    verb: [create, patch]
    resource: deployments.apps
    retry_after: 2
    count: 3                 # three times, then no more

Must hold: an invalid rule is refused when it is made.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from aio_apiserver.apiserver.config.validation_errors import describe
from aio_apiserver.apiserver.wire.request_info import RequestInfo
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.testing.bench import request_selectors
from aio_apiserver.testing.bench.fault_kinds import OF_WATCHES, Fault, FaultFields, FaultName
from aio_apiserver.testing.bench.request_selectors import fits_resource, resource_name

_OF_WATCHES_ALONE = OF_WATCHES - {Fault.GONE}
_READING = frozenset({"get", "list"})
_OPTIONS = {
    "delay": frozenset({Fault.LATENCY, Fault.DELAY}),
    "retry_after": frozenset({Fault.THROTTLE, Fault.ERROR}),
    "code": frozenset({Fault.ERROR}),
    "version": frozenset({Fault.STALE}),
}
"""Options, and the faults that have them."""


def _many(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Patterns = Annotated[tuple[str, ...], BeforeValidator(_many)]


class FaultRule(BaseModel):
    """One fault, and the requests that it is for.

    verb: get, list, watch, create, update, patch, delete, deletecollection. resource: `pods`, `deployments.apps`,
    `pods/status`. after: the number of requests (of a watch: events) that pass first. count: how often it is injected;
    without it there is no limit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

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
    delay: Annotated[float, Field(gt=0)] | None = None
    retry_after: Annotated[float, Field(ge=0)] | None = None
    code: Annotated[int, Field(ge=500, le=599)] | None = None
    version: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.fault in _OPTIONS["delay"] and self.delay is None:
            raise ValueError(f"{self.fault.value} needs a delay in seconds")
        for option, faults in _OPTIONS.items():
            if getattr(self, option) is not None and self.fault not in faults:
                raise ValueError(f"{self.fault.value} has no {option}")
        request_selectors.check_verbs(self.verb)
        return self

    def is_for(self, info: RequestInfo, user: str) -> bool:
        """Whether the rule matches a request."""
        return (
            info.is_resource
            and self._fits_verb(info.verb)
            and (not self.resource or _fits_resource(self.resource, info))
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


@cache
def _list() -> TypeAdapter[list[FaultRule]]:
    """The validator of a list. It is built for the first file of rules: most servers have none."""
    return TypeAdapter(list[FaultRule])


def rule(fault: Fault | FaultName, fields: FaultFields) -> FaultRule:
    """A rule. Raises ValueError with the field that is wrong."""
    try:
        return FaultRule(fault=Fault(fault), **_as_tuples(fields))
    except ValidationError as exc:
        raise ValueError(describe(exc, FaultRule.model_fields)) from None


def _as_tuples(fields: FaultFields) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def read(path: Path) -> Sequence[FaultRule]:
    """The rules of a file: a list in YAML or JSON. Raises OSError, ValueError."""
    return parse(path.read_bytes(), str(path))


def parse(text: bytes, where: str) -> Sequence[FaultRule]:
    """The rules of a text: a list or a single one. Raises ValueError."""
    document = yaml.read(text).json
    try:
        if document.startswith(b"["):
            return _list().validate_json(document)
        return [FaultRule.model_validate_json(document)]
    except ValidationError as exc:
        raise ValueError(f"{where}: {describe(exc, FaultRule.model_fields)}") from exc
    except ValueError as exc:
        raise ValueError(f"{where}: {exc}") from exc


def _fits_resource(patterns: Sequence[str], info: RequestInfo) -> bool:
    name = resource_name(info.group, info.resource, info.subresource)
    return any(fits_resource(pattern, name) for pattern in patterns)


def _fits(patterns: Sequence[str], text: str) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)

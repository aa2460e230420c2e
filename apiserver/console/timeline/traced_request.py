"""traced_request: one request in the record of the timeline, with its steps: admission decisions and injected faults.

The record outlives its request. So it has none of the objects of the request, and no query.

Must hold: a record does not change. A request has at most 40 steps and 20 notes, and each text is bounded. `size` is
the most memory that a record takes.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from sys import getsizeof

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.apiserver.console.timeline.hidden_values import HIDDEN
from aio_apiserver.apiserver.wire.request_info import RequestInfo
from aio_apiserver.base.short_texts import cut
from aio_apiserver.registry.base.request_steps import RequestStep

MOST_STEPS = 40
_MOST_NOTES = 20
_LONGEST_NAME = 512
_LONGEST_DETAIL = 400
_LONGEST_MESSAGE = 2000
_SECRET = frozenset({"secrets"})
_TEXTS = (
    *("verb", "group", "resource", "subresource", "namespace", "name", "path", "user", "client"),
    *("message", "reason", "fault"),
)
_BYTES, _STEP_BYTES, _NOTE_BYTES = 1000, 200, 120
"""The memory of a record, of a step and of a note without their texts."""


class TracedStep(Struct, frozen=True):
    """One step of a request. at: its end."""

    at: float
    kind: str
    by: str
    verdict: str
    seconds: float
    detail: str


class TracedRequest(Struct, frozen=True, kw_only=True):
    """One request. `seconds` is None while it runs. `status` is 0 without a response.

    notes: what authorization and admission have recorded, as the annotations of an audit event.
    """

    number: int
    at: float
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    path: str
    user: str
    client: str
    seconds: float | None = None
    status: int = 0
    message: str = ""
    reason: str = ""
    fault: str = ""
    notes: Mapping[str, str] = {}
    steps: tuple[TracedStep, ...] = ()

    def with_step(self, step: RequestStep, at: float) -> "TracedRequest":
        """The request with a further step, unless it has too many."""
        if len(self.steps) >= MOST_STEPS:
            return self
        detail = cut(self._masked(step.detail), _LONGEST_DETAIL) or _joined(step.fields)
        kind, by, verdict = (cut(text, _LONGEST_NAME) for text in (step.kind, step.by, step.verdict))
        return replace(self, steps=(*self.steps, TracedStep(at, kind, by, verdict, step.seconds, detail)))

    def ended(
        self,
        *,
        seconds: float,
        status: int,
        message: str = "",
        reason: str = "",
        fault: str = "",
        name: str = "",
        notes: Mapping[str, str],
    ) -> "TracedRequest":
        """The request with its response. name: of the object, where the path has none."""
        few = islice(notes.items(), _MOST_NOTES)
        return replace(
            self,
            seconds=seconds,
            status=status,
            message=cut(self._masked(message), _LONGEST_MESSAGE),
            reason=cut(reason, _LONGEST_NAME),
            fault=cut(fault, _LONGEST_NAME),
            name=self.name or cut(name, _LONGEST_NAME),
            notes={cut(key, _LONGEST_NAME): cut(text, _LONGEST_MESSAGE) for key, text in few},
        )

    @property
    def size(self) -> int:
        """The bytes in memory."""
        own = sum(getsizeof(getattr(self, name)) for name in _TEXTS)
        notes = sum(map(getsizeof, chain(self.notes, self.notes.values()))) + _NOTE_BYTES * len(self.notes)
        return _BYTES + own + notes + sum(map(_step_size, self.steps))

    def _masked(self, message: str) -> str:
        """A message about the request. One about a Secret is hidden."""
        return HIDDEN if message and self.resource in _SECRET else message


def begun(number: int, at: float, info: RequestInfo, *, path: str, user: str, client: str) -> TracedRequest:
    """The record of a request that begins. path: empty for a request with a resource."""
    return TracedRequest(
        number=number,
        at=at,
        verb=cut(info.verb, _LONGEST_NAME),
        group=cut(info.group, _LONGEST_NAME),
        resource=cut(info.resource, _LONGEST_NAME),
        subresource=cut(info.subresource, _LONGEST_NAME),
        namespace=cut(info.namespace, _LONGEST_NAME),
        name=cut(info.name, _LONGEST_NAME),
        path=cut(path, _LONGEST_DETAIL),
        user=cut(user, _LONGEST_NAME),
        client=cut(client, _LONGEST_NAME),
    )


def _joined(fields: Sequence[str]) -> str:
    """The names of some fields."""
    return cut(", ".join(cut(field, _LONGEST_NAME) for field in islice(fields, _MOST_NOTES)), _LONGEST_DETAIL)


def _step_size(step: TracedStep) -> int:
    return _STEP_BYTES + sum(map(getsizeof, (step.kind, step.by, step.verdict, step.detail)))

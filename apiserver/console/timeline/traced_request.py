"""traced_request: one request in the record of the timeline, with its steps: admission decisions and injected faults.

Must hold: a request has at most 40 steps, and their texts are bounded.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from aio_apiserver.apiserver.console.timeline.hidden_values import HIDDEN
from aio_apiserver.apiserver.wire.request_info import RequestInfo
from aio_apiserver.registry.base.request_steps import RequestStep

MOST_STEPS = 40
_LONGEST = 400
_SECRET = frozenset({"secrets"})
_FACTS = ("verb", "group", "resource", "subresource", "namespace")


class TracedStep(Struct, frozen=True):
    """One step of a request. at: its end."""

    at: float
    kind: str
    by: str
    verdict: str
    seconds: float
    detail: str


class TracedRequest(Struct):
    """One request. `seconds` is None while it runs. `status` is 0 without a response.

    notes: what authorization and admission have recorded, as the annotations of an audit event.
    """

    number: int
    at: float
    info: RequestInfo
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
    steps: list[TracedStep] = field(default_factory=list)

    def take_step(self, step: RequestStep, at: float) -> bool:
        """Keep a step, unless there are too many. Returns whether it was kept."""
        if len(self.steps) >= MOST_STEPS:
            return False
        detail = self.masked(step.detail) or ", ".join(step.fields)
        self.steps.append(TracedStep(at, step.kind, step.by, step.verdict, step.seconds, detail[:_LONGEST]))
        return True

    def masked(self, message: str) -> str:
        """A message about the request. One about a Secret is hidden."""
        return HIDDEN if message and self.info.resource in _SECRET else message

    def as_json(self) -> dict[str, Any]:
        """The request as JSON."""
        facts = {name: getattr(self.info, name) for name in _FACTS}
        own = {name: getattr(self, name) for name in self.__struct_fields__ if name not in ("info", "steps")}
        return {**facts, **own, "steps": [asdict(one) for one in self.steps]}

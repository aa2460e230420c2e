"""request_steps: what happened within one request, for the console's timeline: admission decisions, injected faults.

A server without the console ignores the steps.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct


class RequestStep(Struct, frozen=True):
    """One step, noted when it has ended.

    kind: `plugin`, `webhook`, `policy` or `fault`. by: its name. verdict: `changed`, `refused`, `allowed`, `warned`,
    `failed open`, `failed`, `cancelled` or the name of a fault. detail: a message. fields: the fields of the object
    that it has changed.
    """

    kind: str
    by: str
    verdict: str
    seconds: float = 0.0
    detail: str = ""
    fields: Sequence[str] = ()


NoteStep = Callable[[RequestStep], None]


def ignore_step(_step: RequestStep) -> None:
    """For requests whose steps are not shown."""

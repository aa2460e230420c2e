"""slow_traces: which operations are logged, and with which steps."""

import logging
import re

import pytest

from aio_apiserver.apiserver.tracing.slow_traces import SlowTraces
from aio_apiserver.apiserver.tracing.tracers import Tracer
from aio_apiserver.base import tracing
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.tracing import TraceSpan


class Trial:
    """A request whose clock the test moves."""

    def __init__(self, verbosity: int = 2) -> None:
        self.clock = ManualClock(1_700_000_000.0)
        self._slow = SlowTraces(verbosity)
        self._first = Tracer(self.clock, self._ended, exports=False).first("request")

    def _ended(self, span: TraceSpan) -> None:
        if span.is_topmost and span.threshold is not None:
            self._slow.ended(span)

    async def spend(self, seconds: float) -> None:
        self.clock.advance(seconds)

    async def create(self, *, decoding: float, storing: float, user_agent: str = "tests/1") -> None:
        with (
            tracing.within(self._first),
            tracing.spanned("Create", {"audit-id": "a", "user-agent": user_agent}) as span,
        ):
            await self.spend(decoding)
            span.step("Conversion done")
            with tracing.spanned("Create etcd3", {"key": "default/one"}) as inner:
                await self.spend(storing)
                inner.step("Txn call completed", {"len": 7})
            span.step("Write to database call succeeded")


def entries(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The entries, without numbers and times of day."""
    found = [re.sub(r"Trace\[\d+\]", "Trace[N]", record.getMessage()) for record in caplog.records]
    return [re.sub(r"(\d\d-\w{3}-\d{4} )?\d\d:\d\d:\d\d\.\d{3}", "T", one) for one in found]


async def test_a_fast_operation_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        await Trial().create(decoding=0.1, storing=0.3)

    assert entries(caplog) == []


async def test_a_slow_operation_is_logged_with_its_slow_steps(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        await Trial().create(decoding=0.01, storing=0.6)

    assert entries(caplog) == [
        'Trace[N]: "Create" audit-id:a,user-agent:tests/1 (T) (total time: 610ms):\n'
        'Trace[N]: ["Create etcd3" key:default/one 600ms (T)\n'
        'Trace[N]:  ---"Txn call completed" len:7 600ms (T)]\n'
        "Trace[N]: [610ms] [610ms] END"
    ]


async def test_all_steps_are_logged_from_verbosity_4_on(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        await Trial(verbosity=4).create(decoding=0.6, storing=0.01)

    (entry,) = entries(caplog)
    assert '---"Conversion done" 600ms' in entry
    assert '["Create etcd3" key:default/one 10ms (T)\nTrace[N]:  ---"Txn call completed" len:7 10ms (T)]' in entry
    assert '---"Write to database call succeeded" 0ms' in entry


async def test_a_client_makes_no_lines(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        await Trial().create(decoding=0.6, storing=0.0, user_agent="x\nI1119 forged" + "y" * 2000)

    (entry,) = entries(caplog)
    assert "x\\nI1119 forged" in entry
    assert len(entry) < 1600


async def test_a_span_that_has_ended_stays_as_it_is() -> None:
    """A background task that a request has started may still have its span."""
    clock = ManualClock()
    span = Tracer(clock, lambda _span: None, exports=False).first("request")
    with tracing.within(span):
        pass

    span.step("late")
    span.child("late", {})

    assert span.items == []

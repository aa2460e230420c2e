"""chain: MeasuredChain, kube-apiserver's admission chain: calls the plugins in order and measures their times.

Must hold: a plugin is called only for its operations and for the steps that it implements. One clock reading between
two plugins serves both.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin, Run
from aio_apiserver.storage import measures
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.measures import Histogram

_BOUNDS = (0.005, 0.025, 0.1, 0.5, 1, 2.5)
_MUTATING, _VALIDATING = "admit", "validate"

Call = Callable[[Attributes], Awaitable[None]]


class AdmissionMetrics:
    """The durations of the admission chain and of each of its plugins."""

    def __init__(self) -> None:
        self.plugins = measures.histograms("name", "operation", "rejected", "type", bounds=_BOUNDS)
        self.steps = measures.histograms("operation", "rejected", "type", bounds=_BOUNDS)


class _Link(NamedTuple):
    """One plugin in one step: its method, and its histogram for accepted writes."""

    name: str
    call: Call
    accepted: Histogram


class _Step(NamedTuple):
    """The plugins that take part in one operation."""

    operation: Operation
    kind: str
    links: Sequence[_Link]
    accepted: Histogram


class MeasuredChain:
    """Admission by some plugins."""

    def __init__(self, plugins: Sequence[Plugin], metrics: AdmissionMetrics, clock: Clock) -> None:
        self.plugins = tuple(plugins)
        self._metrics = metrics
        self._clock = clock
        self._mutating = self._steps(plugins, _MUTATING)
        self._validating = self._steps(plugins, _VALIDATING)

    async def mutate(self, attributes: Attributes) -> None:
        """Let every plugin change the object; once more if a plugin requests reinvocation."""
        await self._run(self._mutating[attributes.operation], attributes)
        reinvocation = attributes.reinvocation
        if reinvocation.is_wanted and not reinvocation.is_again:
            reinvocation.is_again = True
            await self._run(self._mutating[attributes.operation], attributes)

    @property
    def runs(self) -> Sequence[Run]:
        """The plugins' tasks for the lifetime of the server."""
        return [run for plugin in self.plugins for run in plugin.runs]

    async def validate(self, attributes: Attributes) -> None:
        """Let every plugin refuse the object."""
        await self._run(self._validating[attributes.operation], attributes)

    async def _run(self, step: _Step, attributes: Attributes) -> None:
        began = last = self._clock.monotonic()
        for link in step.links:
            try:
                await link.call(attributes)
            except BaseException:
                self._refused(step, link, last, began)
                raise
            now = self._clock.monotonic()
            link.accepted.observe(now - last)
            last = now
        step.accepted.observe(last - began)

    def _refused(self, step: _Step, link: _Link, last: float, began: float) -> None:
        now, operation = self._clock.monotonic(), step.operation.value
        self._metrics.plugins.of(link.name, operation, "true", step.kind).observe(now - last)
        self._metrics.steps.of(operation, "true", step.kind).observe(now - began)

    def _steps(self, plugins: Sequence[Plugin], kind: str) -> Mapping[Operation, _Step]:
        return {operation: self._step(plugins, operation, kind) for operation in Operation}

    def _step(self, plugins: Sequence[Plugin], operation: Operation, kind: str) -> _Step:
        links = [
            _Link(plugin.name, call, self._metrics.plugins.of(plugin.name, operation.value, "false", kind))
            for plugin in plugins
            if operation in plugin.operations and (call := _call_of(plugin, kind)) is not None
        ]
        return _Step(operation, kind, links, self._metrics.steps.of(operation.value, "false", kind))


def _call_of(plugin: Plugin, kind: str) -> Call | None:
    """A plugin's method in a step; None where it has only the base class's, which does nothing."""
    if kind == _MUTATING:
        return None if type(plugin).mutate is Plugin.mutate else plugin.mutate
    return None if type(plugin).validate is Plugin.validate else plugin.validate

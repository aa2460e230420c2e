"""chain: MeasuredChain, kube-apiserver's admission chain: calls the plugins in order and measures their times.

Which plugins a write calls is decided when the chain is made: there is a table for each resource that a plugin names.

Must hold: a plugin is called only for its operations, its resources and the steps that it implements. One clock reading
between two plugins serves both.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from aio_apiserver.base import measures
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.measures import Histogram
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin, Run

_BOUNDS = (0.005, 0.025, 0.1, 0.5, 1, 2.5)
_SHORTEST = _BOUNDS[0]
_MUTATING, _VALIDATING = "admit", "validate"

Call = Callable[[Attributes], Awaitable[None]]
Trace = Callable[[str, Call, Clock], Call]
"""From the name and the call of a plugin to a call that notes the plugin's decisions."""


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


class _Steps(NamedTuple):
    """Both steps of one operation on one resource."""

    mutating: _Step
    validating: _Step


class MeasuredChain:
    """Admission by some plugins. trace: for servers whose timeline shows decisions."""

    def __init__(
        self, plugins: Sequence[Plugin], metrics: AdmissionMetrics, clock: Clock, trace: Trace | None = None
    ) -> None:
        self.plugins = tuple(plugins)
        self._metrics = metrics
        self._clock = clock
        self._trace = trace
        named = {resource for plugin in plugins for resource in plugin.resources or ()}
        self._of_others = self._steps_of(plugins, None)
        self._of_named = {resource: self._steps_of(plugins, resource) for resource in named}

    async def mutate(self, attributes: Attributes) -> None:
        """Let every plugin change the object; once more if a plugin requests reinvocation."""
        step = self._of_named.get(attributes.resource, self._of_others)[attributes.operation].mutating
        await self._run(step, attributes)
        reinvocation = attributes.reinvocation
        if reinvocation.is_wanted and not reinvocation.is_again:
            reinvocation.is_again = True
            await self._run(step, attributes)

    @property
    def runs(self) -> Sequence[Run]:
        """The plugins' tasks for the lifetime of the server."""
        return [run for plugin in self.plugins for run in plugin.runs]

    async def validate(self, attributes: Attributes) -> None:
        """Let every plugin refuse the object."""
        await self._run(
            self._of_named.get(attributes.resource, self._of_others)[attributes.operation].validating, attributes
        )

    async def _run(self, step: _Step, attributes: Attributes) -> None:
        began = last = self._clock.monotonic()
        for link in step.links:
            try:
                await link.call(attributes)
            except BaseException:
                self._refused(step, link, last, began)
                raise
            now = self._clock.monotonic()
            took, accepted = now - last, link.accepted
            if took <= _SHORTEST:  # as Histogram.observe, without its call: nearly all plugins are this fast
                accepted.counts[0] += 1
                accepted.sum += took
            else:
                accepted.observe(took)
            last = now
        step.accepted.observe(last - began)

    def _refused(self, step: _Step, link: _Link, last: float, began: float) -> None:
        now, operation = self._clock.monotonic(), step.operation.value
        self._metrics.plugins.of(link.name, operation, "true", step.kind).observe(now - last)
        self._metrics.steps.of(operation, "true", step.kind).observe(now - began)

    def _steps_of(self, plugins: Sequence[Plugin], resource: GroupResource | None) -> Mapping[Operation, _Steps]:
        """The steps of a resource; None is for all resources that no plugin names."""
        concerned = [one for one in plugins if one.resources is None or resource in one.resources]
        return {operation: self._steps(concerned, operation) for operation in Operation}

    def _steps(self, plugins: Sequence[Plugin], operation: Operation) -> _Steps:
        return _Steps(self._step(plugins, operation, _MUTATING), self._step(plugins, operation, _VALIDATING))

    def _step(self, plugins: Sequence[Plugin], operation: Operation, kind: str) -> _Step:
        links = [
            _Link(
                plugin.name,
                call if self._trace is None else self._trace(plugin.name, call, self._clock),
                self._metrics.plugins.of(plugin.name, operation.value, "false", kind),
            )
            for plugin in plugins
            if operation in plugin.operations and (call := _call_of(plugin, kind)) is not None
        ]
        return _Step(operation, kind, links, self._metrics.steps.of(operation.value, "false", kind))


def _call_of(plugin: Plugin, kind: str) -> Call | None:
    """A plugin's method in a step; None where it has only the base class's, which does nothing."""
    if kind == _MUTATING:
        return None if type(plugin).mutate is Plugin.mutate else plugin.mutate
    return None if type(plugin).validate is Plugin.validate else plugin.validate

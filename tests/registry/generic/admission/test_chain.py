from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.measures import Histogram
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.base.request_steps import RequestStep
from aio_apiserver.registry.generic.access.users import ANONYMOUS
from aio_apiserver.registry.generic.admission.chain import AdmissionMetrics, MeasuredChain
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.admission.traced_calls import traced


class Labeller(Plugin):
    name = "Labeller"
    operations = frozenset({Operation.CREATE})

    async def mutate(self, attributes: Attributes) -> None:
        assert attributes.obj is not None
        attributes.obj["labelled"] = True


class Refuser(Plugin):
    name = "Refuser"

    async def validate(self, attributes: Attributes) -> None:
        raise BadRequest("no")


class Attempt:
    """One write through a chain, and its metrics."""

    def __init__(self, *plugins: Plugin) -> None:
        self.metrics = AdmissionMetrics()
        self.chain = MeasuredChain(plugins, self.metrics, ManualClock(), traced)
        self.obj: dict[str, Any] = {}
        self.steps: list[RequestStep] = []

    def attributes(self, operation: Operation) -> Attributes:
        return Attributes(
            operation=operation,
            resource=GroupResource("", "pods"),
            version="v1",
            kind=GroupVersionKind("", "v1", "Pod"),
            subresource="",
            namespace="default",
            name="a",
            obj=self.obj,
            old=None,
            options=None,
            is_dry_run=False,
            user=ANONYMOUS,
            warn=lambda _text: None,
            note_step=self.steps.append,
        )

    @property
    def recorded(self) -> dict[tuple[str, ...], int]:
        series = {**self.metrics.plugins.series, **self.metrics.steps.series}
        return {labels: one.total for labels, one in series.items() if isinstance(one, Histogram) and one.total}


async def test_a_plugin_is_called_in_the_steps_that_it_has() -> None:
    attempt = Attempt(Labeller())

    await attempt.chain.mutate(attempt.attributes(Operation.CREATE))
    await attempt.chain.validate(attempt.attributes(Operation.CREATE))

    assert attempt.obj == {"labelled": True}
    assert attempt.recorded == {
        ("Labeller", "CREATE", "false", "admit"): 1,
        ("CREATE", "false", "admit"): 1,
        ("CREATE", "false", "validate"): 1,
    }


async def test_a_plugin_is_not_called_for_operations_that_it_does_not_look_at() -> None:
    attempt = Attempt(Labeller())

    await attempt.chain.mutate(attempt.attributes(Operation.DELETE))

    assert attempt.obj == {}


class NodeLabeller(Labeller):
    name = "NodeLabeller"
    resources = frozenset({GroupResource("", "nodes")})


class PodLabeller(Labeller):
    name = "PodLabeller"
    resources = frozenset({GroupResource("", "pods"), GroupResource("", "nodes")})


async def test_a_plugin_is_called_for_the_resources_that_it_names() -> None:
    attempt = Attempt(NodeLabeller(), Labeller(), PodLabeller())

    await attempt.chain.mutate(attempt.attributes(Operation.CREATE))

    called = [labels[0] for labels in attempt.recorded if len(labels) == 4]
    assert called == ["Labeller", "PodLabeller"]


async def test_a_resource_that_no_plugin_names_passes_those_for_all_resources() -> None:
    attempt = Attempt(NodeLabeller(), Labeller())

    await attempt.chain.mutate(attempt.attributes(Operation.CREATE))

    assert [labels[0] for labels in attempt.recorded if len(labels) == 4] == ["Labeller"]


async def test_a_refusal_is_recorded_as_one() -> None:
    attempt = Attempt(Labeller(), Refuser())

    with pytest.raises(BadRequest):
        await attempt.chain.validate(attempt.attributes(Operation.UPDATE))

    assert attempt.recorded == {
        ("Refuser", "UPDATE", "true", "validate"): 1,
        ("UPDATE", "true", "validate"): 1,
    }


async def test_a_traced_plugin_notes_what_it_changed_or_refused() -> None:
    attempt = Attempt(Labeller(), Refuser())

    for _ in range(2):
        await attempt.chain.mutate(attempt.attributes(Operation.CREATE))
    with pytest.raises(BadRequest):
        await attempt.chain.validate(attempt.attributes(Operation.CREATE))

    assert attempt.steps == [
        RequestStep("plugin", "Labeller", "changed", fields=("labelled",)),
        RequestStep("plugin", "Refuser", "refused", detail="no"),
    ]


@pytest.mark.parametrize("value", [[{}] * 5_000, "x" * 200_000], ids=["many values", "a long text"])
async def test_a_large_object_is_not_copied_for_the_steps_of_its_plugins(value: object) -> None:
    attempt = Attempt(Labeller(), Refuser())
    attempt.obj = {"spec": {"large": value}}

    await attempt.chain.mutate(attempt.attributes(Operation.CREATE))
    with pytest.raises(BadRequest):
        await attempt.chain.validate(attempt.attributes(Operation.CREATE))

    assert attempt.steps == [RequestStep("plugin", "Refuser", "refused", detail="no")]

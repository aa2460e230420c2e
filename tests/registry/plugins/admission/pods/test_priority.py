"""Priority: priority classes and pods."""

from typing import Any

import pytest

from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.plugins.admission.pods.priority import Priority
from aio_apiserver.storage.interface import Storage
from tests.registry.plugins.admission.writes import write

CLASSES = GroupResource("scheduling.k8s.io", "priorityclasses")
LOWER = "PreemptLowerPriority"


@pytest.fixture
def classes(kept: Storage) -> Storage:
    return kept


async def add(classes: Storage, name: str, value: int, **more: Any) -> None:
    await classes.create(name, {"metadata": {"name": name}, "value": value, **more})


async def admitted(classes: Storage, **spec: Any) -> dict[str, Any]:
    await Priority(classes).mutate(write({"spec": spec}))
    return spec


async def test_without_classes_the_priority_is_zero(classes: Storage) -> None:
    assert await admitted(classes) == {"priority": 0, "preemptionPolicy": LOWER}


async def test_the_class_says_how_important_a_pod_is(classes: Storage) -> None:
    await add(classes, "high", 1000, preemptionPolicy="Never")

    spec = await admitted(classes, priorityClassName="high", priority=1000)

    assert spec == {"priorityClassName": "high", "priority": 1000, "preemptionPolicy": "Never"}


async def test_the_least_of_several_defaults_counts(classes: Storage) -> None:
    await add(classes, "high", 1000, globalDefault=True)
    await add(classes, "low", 10, globalDefault=True)

    assert await admitted(classes) == {"priorityClassName": "low", "priority": 10, "preemptionPolicy": LOWER}


async def test_a_changed_class_counts_for_the_next_pod(classes: Storage) -> None:
    plugin = Priority(classes)
    await add(classes, "high", 1000)
    await plugin.mutate(write({"spec": {"priorityClassName": "high"}}))
    await classes.delete("high")
    await add(classes, "high", 7)
    pod: dict[str, Any] = {"spec": {"priorityClassName": "high"}}

    await plugin.mutate(write(pod))

    assert pod["spec"]["priority"] == 7


async def test_system_classes_are_always_there(classes: Storage) -> None:
    spec = await admitted(classes, priorityClassName="system-node-critical")

    assert spec["priority"] == 2_000_001_000


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"priorityClassName": "none"}, "no PriorityClass with name none was found"),
        (
            {"priority": 5},
            "the integer value of priority (5) must not be provided in pod spec; "
            "priority admission controller computed 0 from the given PriorityClass name",
        ),
        (
            {"preemptionPolicy": "Never"},
            "the string value of PreemptionPolicy (Never) must not be provided in pod spec; "
            "priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
        ),
    ],
)
async def test_pods_do_not_say_how_important_they_are(classes: Storage, spec: dict[str, Any], why: str) -> None:
    with pytest.raises(Forbidden) as refused:
        await admitted(classes, **spec)

    assert refused.value.message == f'pods "p" is forbidden: {why}'


async def test_an_update_keeps_the_priority(classes: Storage) -> None:
    pod: dict[str, Any] = {"spec": {"priority": None}}

    await Priority(classes).mutate(write(pod, old={"spec": {"priority": 5, "preemptionPolicy": LOWER}}))

    assert pod["spec"] == {"priority": 5, "preemptionPolicy": LOWER}


async def test_there_is_one_default_class(classes: Storage) -> None:
    await add(classes, "high", 1000, globalDefault=True)
    same = {"metadata": {"name": "high"}, "globalDefault": True}
    other = {"metadata": {"name": "other"}, "globalDefault": True}

    await Priority(classes).validate(write(same, old=same, resource=CLASSES))
    with pytest.raises(Forbidden) as refused:
        await Priority(classes).validate(write(other, resource=CLASSES))

    assert refused.value.message.endswith("PriorityClass high is already marked as default. Only one default can exist")

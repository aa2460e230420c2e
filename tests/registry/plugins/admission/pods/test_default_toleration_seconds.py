"""DefaultTolerationSeconds: the tolerations that a pod lacks."""

from typing import Any

import pytest

from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.plugins.admission.pods.default_toleration_seconds import DefaultTolerationSeconds
from tests.registry.plugins.admission.writes import write

NOT_READY = {
    "key": "node.kubernetes.io/not-ready",
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 300,
}
UNREACHABLE = {**NOT_READY, "key": "node.kubernetes.io/unreachable"}


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ([], [NOT_READY, UNREACHABLE]),
        ([{"key": "other"}], [NOT_READY, UNREACHABLE]),
        ([{"key": NOT_READY["key"]}], [UNREACHABLE]),
        ([{"key": NOT_READY["key"], "effect": "NoSchedule"}], [NOT_READY, UNREACHABLE]),
        ([{"operator": "Exists"}], []),
    ],
)
async def test_adds_what_is_missing(given: list[dict[str, Any]], added: list[dict[str, Any]]) -> None:
    pod: dict[str, Any] = {"spec": {"tolerations": given}}

    await DefaultTolerationSeconds().mutate(write(pod))

    assert pod["spec"]["tolerations"] == [*given, *added]


async def test_leaves_subresources_and_other_kinds_alone() -> None:
    pod: dict[str, Any] = {"spec": {}}

    await DefaultTolerationSeconds().mutate(write(pod, subresource="status"))
    await DefaultTolerationSeconds().mutate(write(pod, resource=GroupResource("apps", "deployments")))

    assert pod == {"spec": {}}

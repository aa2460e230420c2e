"""LimitRanger: limits and defaults of pods and claims."""

from typing import Any

import pytest

from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.plugins.admission.namespaces.limit_ranger import LimitRanger
from aio_apiserver.storage.interface import Storage
from tests.registry.plugins.admission.writes import write

CLAIMS = GroupResource("", "persistentvolumeclaims")


async def limited(kept: Storage, *limits: dict[str, Any]) -> LimitRanger:
    await kept.create(
        "default/l", {"metadata": {"name": "l", "namespace": "default"}, "spec": {"limits": list(limits)}}
    )
    return LimitRanger(kept)


def pod(*resources: dict[str, Any]) -> dict[str, Any]:
    containers = [{"name": f"c{number}", "resources": one} for number, one in enumerate(resources)]
    return {"metadata": {"name": "p"}, "spec": {"containers": containers}}


async def test_containers_get_what_they_do_not_say(kept: Storage) -> None:
    plugin = await limited(kept, {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "250m"}})
    obj = pod({"requests": {"cpu": "50m"}}, {})

    await plugin.mutate(write(obj))

    assert [one["resources"] for one in obj["spec"]["containers"]] == [
        {"requests": {"cpu": "50m"}, "limits": {"cpu": "1"}},
        {"requests": {"cpu": "250m"}, "limits": {"cpu": "1"}},
    ]
    assert obj["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu limit for container c0; "
        "cpu request for container c1; cpu limit for container c1"
    }


@pytest.mark.parametrize(
    ("limit", "resources", "why"),
    [
        (
            {"type": "Container", "min": {"cpu": "100m"}},
            {"requests": {"cpu": "50m"}},
            "minimum cpu usage per Container is 100m, but request is 50m",
        ),
        (
            {"type": "Container", "max": {"memory": "1Gi"}},
            {},
            "maximum memory usage per Container is 1Gi.  No limit is specified",
        ),
        (
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
        (
            {"type": "Pod", "max": {"cpu": "1500m"}},
            {"limits": {"cpu": "1"}},
            "maximum cpu usage per Pod is 1500m, but limit is 2",
        ),
        (
            {"type": "Container", "min": {"cpu": "1"}, "max": {"cpu": "2"}},
            {"requests": {"cpu": "500m"}, "limits": {"cpu": "4"}},
            "[minimum cpu usage per Container is 1, but request is 500m, "
            "maximum cpu usage per Container is 2, but limit is 4]",
        ),
    ],
)
async def test_pods_that_ask_for_something_else_are_refused(
    kept: Storage, limit: dict[str, Any], resources: dict[str, Any], why: str
) -> None:
    plugin = await limited(kept, limit)

    with pytest.raises(Forbidden) as refusal:
        await plugin.validate(write(pod(resources, resources)))

    assert refusal.value.message == f'pods "p" is forbidden: {why}'


async def test_claims_are_measured_with_every_change(kept: Storage) -> None:
    plugin = await limited(kept, {"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}})
    claim = {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": "3Gi"}}}}

    with pytest.raises(Forbidden, match="maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"):
        await plugin.validate(write(claim, old=claim, resource=CLAIMS))


async def test_pods_that_are_there_already_are_measured_only_when_they_are_resized(kept: Storage) -> None:
    plugin = await limited(kept, {"type": "Container", "max": {"cpu": "1"}})
    obj = pod({"limits": {"cpu": "2"}})

    await plugin.validate(write(obj, old=obj))

    with pytest.raises(Forbidden):
        await plugin.validate(write(obj, old=obj, subresource="resize"))

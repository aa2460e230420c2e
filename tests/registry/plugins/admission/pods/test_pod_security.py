"""PodSecurity: pods against the standards of their namespace."""

from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base.errors import Forbidden, Invalid
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.plugins.admission.pods import pod_security_configuration
from aio_apiserver.registry.plugins.admission.pods.pod_security import PodSecurity
from aio_apiserver.registry.plugins.podsecurity.metrics import PodSecurityMetrics
from aio_apiserver.storage.interface import Storage
from tests.registry.plugins.admission.writes import write

NAMESPACES = GroupResource("", "namespaces")
DEPLOYMENTS = GroupResource("apps", "deployments")
LABEL = "pod-security.kubernetes.io/"


def namespace(**labels: str) -> dict[str, Any]:
    return {"metadata": {"name": "default", "labels": {LABEL + name: value for name, value in labels.items()}}}


def plugin(
    namespaces: Storage, pods: Storage, configuration: Any = None, metrics: PodSecurityMetrics | None = None
) -> PodSecurity:
    return PodSecurity(
        namespaces,
        pods,
        ManualClock(),
        configuration=pod_security_configuration.read(configuration),
        metrics=metrics or PodSecurityMetrics(),
    )


def pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


async def warnings_of(security: PodSecurity, attributes: Attributes) -> list[str]:
    told: list[str] = []
    await security.validate(replace(attributes, warn=told.append))
    return told


async def test_a_pod_that_breaks_the_standard_is_refused(kept: Storage, pods: Storage) -> None:
    await kept.create("default", namespace(enforce="baseline"))

    with pytest.raises(Forbidden) as refusal:
        await plugin(kept, pods).validate(write(pod(hostPID=True)))

    why = 'violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'
    assert refusal.value.message == f'pods "p" is forbidden: {why}'


async def test_a_controller_is_accepted_with_a_warning(kept: Storage, pods: Storage) -> None:
    await kept.create("default", namespace(enforce="baseline"))
    deployment = {"metadata": {"name": "d"}, "spec": {"template": pod(hostIPC=True)}}

    told = await warnings_of(plugin(kept, pods), write(deployment, resource=DEPLOYMENTS))

    assert told == ['would violate PodSecurity "baseline:latest": host namespaces (hostIPC=true)']


async def test_judgements_are_counted(kept: Storage, pods: Storage) -> None:
    await kept.create("default", namespace(enforce="baseline", audit="restricted"))
    metrics = PodSecurityMetrics()
    security = plugin(kept, pods, metrics=metrics)

    await security.validate(write(pod()))
    with pytest.raises(Forbidden):
        await security.validate(write(pod(hostPID=True)))

    assert {labels[:4]: series.value for labels, series in metrics.evaluations.series.items() if series.value} == {
        ("allow", "baseline", "latest", "enforce"): 1,
        ("deny", "baseline", "latest", "enforce"): 1,
        ("deny", "restricted", "latest", "audit"): 2,
    }


async def test_an_update_that_brings_no_new_image_is_not_judged(kept: Storage, pods: Storage) -> None:
    await kept.create("default", namespace(enforce="baseline"))
    old = pod(hostPID=True)

    assert await warnings_of(plugin(kept, pods), write(pod(hostPID=True), old=old)) == []


async def test_exempt_users_may_do_anything(kept: Storage, pods: Storage) -> None:
    await kept.create("default", namespace(enforce="restricted"))
    exempt = {"apiVersion": "pod-security.admission.config.k8s.io/v1", "exemptions": {"usernames": ["u"]}}

    assert await warnings_of(plugin(kept, pods, exempt), write(pod(hostPID=True))) == []


async def test_a_stricter_namespace_hears_of_its_pods(kept: Storage, pods: Storage) -> None:
    for name in ("b", "a", "fine"):
        spec = {} if name == "fine" else {"hostPID": True}
        await pods.create(f"default/{name}", pod(name, **spec))
    change = write(namespace(enforce="baseline"), old=namespace(), resource=NAMESPACES)

    assert await warnings_of(plugin(kept, pods), change) == [
        'existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"',
        "a (and 1 other pod): host namespaces",
    ]


async def test_labels_have_to_be_right(kept: Storage, pods: Storage) -> None:
    with pytest.raises(Invalid, match="must be one of privileged, baseline, restricted"):
        await plugin(kept, pods).validate(write(namespace(warn="odd"), resource=NAMESPACES))


def test_a_configuration_has_known_fields_only() -> None:
    with pytest.raises(ValueError, match="fields can be"):
        pod_security_configuration.read({"apiVersion": "pod-security.admission.config.k8s.io/v1", "odd": 1})

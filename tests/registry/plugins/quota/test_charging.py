"""What a write adds to a quota, and when the quota refuses it."""

from typing import Any

import pytest

from aio_apiserver.registry.base import amounts, errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.plugins.quota import charging
from aio_apiserver.registry.plugins.quota.claims import VolumeClaims
from aio_apiserver.registry.plugins.quota.evaluators import Evaluator, ObjectCounts
from aio_apiserver.registry.plugins.quota.pods import Pods
from aio_apiserver.registry.plugins.quota.services import Services
from tests.registry.plugins.admission.writes import write

CONFIGMAPS = ObjectCounts(("count/configmaps", "configmaps"))
GREEDY = {"name": "c", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}
NOW = 1_900_000_000.0


def quota(hard: dict[str, str], used: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "q"}, "spec": spec, "status": {"hard": hard, "used": used or {}}}


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": list(containers or [{"name": "c"}]), **spec}}


def taken(limits: dict[str, Any], evaluator: Evaluator, obj: dict[str, Any], **more: Any) -> dict[str, str]:
    return amounts.texts(charging.charge(limits, evaluator, write(obj, **more), now=NOW))


def test_an_object_that_is_counted_takes_one() -> None:
    assert taken(quota({"configmaps": "2"}, {"configmaps": "1"}), CONFIGMAPS, {"metadata": {}}) == {"configmaps": "1"}


def test_what_is_used_up_lets_nothing_through() -> None:
    limits = quota({"configmaps": "2", "secrets": "1"}, {"configmaps": "2"})
    attributes = write({"metadata": {"name": "c"}}, resource=GroupResource("", "configmaps"))

    with pytest.raises(errors.Forbidden) as caught:
        charging.charge(limits, CONFIGMAPS, attributes, now=NOW)

    assert caught.value.message == (
        'configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, '
        "limited: configmaps=2"
    )


def test_a_quota_that_does_not_know_what_is_used_lets_nothing_through() -> None:
    with pytest.raises(errors.Forbidden, match="status unknown for quota: q, resources: configmaps"):
        taken(quota({"configmaps": "2"}), CONFIGMAPS, {"metadata": {}})


def test_pods_say_how_much_they_want_where_that_is_limited() -> None:
    limits = quota({"requests.cpu": "4", "limits.memory": "1Gi"}, {"requests.cpu": "0", "limits.memory": "0"})

    with pytest.raises(errors.Forbidden, match=r"failed quota: q: must specify limits.memory for: c; requests.cpu for"):
        taken(limits, Pods(), pod())


def test_a_pod_takes_what_its_containers_request() -> None:
    limits = quota({"cpu": "4", "limits.cpu": "8", "pods": "3"}, {"cpu": "1", "limits.cpu": "0", "pods": "1"})

    assert taken(limits, Pods(), pod(GREEDY, GREEDY)) == {"cpu": "2", "limits.cpu": "4", "pods": "1"}


def test_a_pod_that_is_over_is_only_counted() -> None:
    limits = quota({"pods": "3", "count/pods": "3"}, {"pods": "0", "count/pods": "0"})

    assert taken(limits, Pods(), {**pod(), "status": {"phase": "Failed"}}) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("spec", "obj", "is_seen"),
    [
        ({"scopes": ["BestEffort"]}, pod(), True),
        ({"scopes": ["BestEffort"]}, pod(GREEDY), False),
        ({"scopes": ["Terminating"]}, pod(activeDeadlineSeconds=5), True),
        ({"scopes": ["NotTerminating"]}, pod(activeDeadlineSeconds=5), False),
        (
            {"scopes": ["CrossNamespacePodAffinity"]},
            pod(
                affinity={
                    "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"namespaceSelector": {}}]}
                }
            ),
            True,
        ),
    ],
)
def test_quotas_look_at_pods_in_their_scopes(spec: dict[str, Any], obj: dict[str, Any], is_seen: bool) -> None:
    assert charging.looks_at(quota({"pods": "1"}, **spec), Pods(), obj) is is_seen


@pytest.mark.parametrize(
    ("operator", "values", "names", "is_seen"),
    [
        ("In", ["high"], {"priorityClassName": "high"}, True),
        ("In", ["high"], {}, False),
        ("NotIn", ["high"], {}, True),
        ("Exists", [], {"priorityClassName": "low"}, True),
        ("DoesNotExist", [], {"priorityClassName": "low"}, False),
    ],
)
def test_quotas_select_pods_by_their_priority_class(
    operator: str, values: list[str], names: dict[str, str], is_seen: bool
) -> None:
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": operator, "values": values}]}

    assert charging.looks_at(quota({"pods": "1"}, scopeSelector=selector), Pods(), pod(**names)) is is_seen


@pytest.mark.parametrize(
    ("spec", "node_ports", "balancers"),
    [
        ({"type": "ClusterIP", "ports": [{}]}, "0", "0"),
        ({"type": "NodePort", "ports": [{}, {}]}, "2", "0"),
        ({"type": "LoadBalancer", "ports": [{}, {}]}, "2", "1"),
        ({"type": "LoadBalancer", "ports": [{"nodePort": 1}, {}], "allocateLoadBalancerNodePorts": False}, "1", "1"),
    ],
)
def test_services_take_the_ports_that_they_will_get(spec: dict[str, Any], node_ports: str, balancers: str) -> None:
    usage = amounts.texts(Services().usage({"metadata": {}, "spec": spec}, now=NOW))

    assert usage["services.nodeports"] == node_ports
    assert usage["services.loadbalancers"] == balancers


def test_a_claim_that_grows_takes_the_growth() -> None:
    def claim(size: str) -> dict[str, Any]:
        return {"metadata": {}, "spec": {"storageClassName": "s", "resources": {"requests": {"storage": size}}}}

    hard = {"requests.storage": "5Gi", "s.storageclass.storage.k8s.io/requests.storage": "5Gi"}
    limits = quota(hard, dict.fromkeys(hard, "1Gi"))

    assert taken(limits, VolumeClaims(), claim("3Gi"), old=claim("1Gi")) == dict.fromkeys(hard, "2Gi")

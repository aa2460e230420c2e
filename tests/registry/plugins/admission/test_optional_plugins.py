"""Plugins that are off by default, and some small ones."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.controlplane.kind_mapping import KindMapping
from aio_apiserver.registry.generic.access.authorizer import ALLOWED, NO_OPINION, Decision, Rules
from aio_apiserver.registry.generic.access.authorizer import Attributes as Question
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.plugins.admission import event_rate_limit
from aio_apiserver.registry.plugins.admission.always import AlwaysDeny
from aio_apiserver.registry.plugins.admission.event_rate_limit import EventRateLimit
from aio_apiserver.registry.plugins.admission.namespaces.namespace_exists import NamespaceExists
from aio_apiserver.registry.plugins.admission.networking.deny_service_external_ips import DenyServiceExternalIPs
from aio_apiserver.registry.plugins.admission.nodes.node_declared_feature_validator import NodeDeclaredFeatureValidator
from aio_apiserver.registry.plugins.admission.nodes.nodes_of_pods import NodesOfPods
from aio_apiserver.registry.plugins.admission.nodes.pod_resize_validator import PodResizeValidator
from aio_apiserver.registry.plugins.admission.nodes.pod_topology_labels import PodTopologyLabels
from aio_apiserver.registry.plugins.admission.owner_references_permission_enforcement import (
    OwnerReferencesPermissionEnforcement,
)
from aio_apiserver.registry.plugins.admission.pods import pod_toleration_restriction, tolerations
from aio_apiserver.registry.plugins.admission.pods.always_pull_images import AlwaysPullImages
from aio_apiserver.registry.plugins.admission.pods.extended_resource_toleration import ExtendedResourceToleration
from aio_apiserver.registry.plugins.admission.pods.limit_pod_hard_anti_affinity_topology import (
    LimitPodHardAntiAffinityTopology,
)
from aio_apiserver.registry.plugins.admission.pods.pod_node_selector import PodNodeSelector
from aio_apiserver.registry.plugins.admission.pods.pod_toleration_restriction import PodTolerationRestriction
from aio_apiserver.registry.plugins.admission.pods.runtime_class import RuntimeClass
from aio_apiserver.storage.interface import Storage
from tests.registry.plugins.admission.writes import write

EVENTS = GroupResource("", "events")
SERVICES = GroupResource("", "services")


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": spec}


async def namespace(kept: Storage, **annotations: str) -> None:
    named = {f"scheduler.alpha.kubernetes.io/{name.replace('_', '-')}": text for name, text in annotations.items()}
    await kept.create("default", {"metadata": {"name": "default", "annotations": named}})


async def test_a_runtime_has_its_price_and_its_nodes(kept: Storage) -> None:
    scheduling = {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]}
    await kept.create(
        "kata", {"metadata": {"name": "kata"}, "overhead": {"podFixed": {"cpu": "1"}}, "scheduling": scheduling}
    )
    obj = pod(runtimeClassName="kata", nodeSelector={"a": "b"})

    await RuntimeClass(kept).mutate(write(obj))

    assert obj["spec"]["overhead"] == {"cpu": "1"}
    assert obj["spec"]["nodeSelector"] == {"a": "b", "vm": "yes"}
    assert obj["spec"]["tolerations"] == [{"key": "vm", "operator": "Exists"}]


async def test_an_overhead_of_its_own_makes_no_pod(kept: Storage) -> None:
    with pytest.raises(errors.Forbidden, match="Pod Overhead set without corresponding RuntimeClass"):
        await RuntimeClass(kept).validate(write(pod(overhead={"cpu": "1"})))


async def test_an_empty_overhead_of_the_client_makes_no_pod_either(kept: Storage) -> None:
    sent = replace(write(pod()), empties=[Empty(("spec", "overhead"), is_map=True)])

    with pytest.raises(errors.Forbidden, match="Pod Overhead set without corresponding RuntimeClass"):
        await RuntimeClass(kept).validate(sent)


@pytest.mark.parametrize(
    ("name", "why"),
    [("", "resource name may not be empty"), ("a/b", "invalid resource name \"a/b\": [may not contain '/']")],
)
async def test_an_invalid_runtime_class_name_is_not_looked_up(kept: Storage, name: str, why: str) -> None:
    with pytest.raises(errors.StatusError, match=f"^{re.escape(why)}$"):
        await RuntimeClass(kept).mutate(write(pod(runtimeClassName=name)))


async def test_new_images_are_pulled_always() -> None:
    obj = pod(containers=[{"name": "c", "image": "new", "imagePullPolicy": "Never"}])

    with pytest.raises(errors.StatusError, match="Unsupported value"):
        await AlwaysPullImages().validate(write(obj))
    await AlwaysPullImages().mutate(write(obj))

    assert obj["spec"]["containers"][0]["imagePullPolicy"] == "Always"


async def test_pods_that_ask_for_a_special_resource_tolerate_its_taint() -> None:
    obj = pod(containers=[{"name": "c", "resources": {"requests": {"example.com/gpu": "1", "cpu": "1"}}}])

    await ExtendedResourceToleration().mutate(write(obj))

    assert obj["spec"]["tolerations"] == [{"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


async def test_anti_affinity_may_not_take_whole_zones() -> None:
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}

    with pytest.raises(errors.Forbidden, match="has TopologyKey zone but only key"):
        await LimitPodHardAntiAffinityTopology().validate(write(pod(affinity={"podAntiAffinity": terms})))


async def test_services_get_no_new_external_addresses() -> None:
    old, new = {"spec": {"externalIPs": ["1.1.1.1"]}}, {"spec": {"externalIPs": ["1.1.1.1", "2.2.2.2"]}}

    await DenyServiceExternalIPs().validate(write(old, old=old, resource=SERVICES))
    with pytest.raises(errors.Forbidden):
        await DenyServiceExternalIPs().validate(write(new, old=old, resource=SERVICES))


async def test_a_missing_namespace_is_not_found(kept: Storage) -> None:
    with pytest.raises(errors.NotFound, match='namespaces "default" not found'):
        await NamespaceExists(kept).validate(write(pod()))


async def test_always_deny_denies() -> None:
    with pytest.raises(errors.Forbidden, match="admission control is denying all modifications"):
        await AlwaysDeny().mutate(write(pod()))


async def test_a_pod_goes_to_the_nodes_of_its_namespace(kept: Storage) -> None:
    await namespace(kept, node_selector="env=prod")
    obj = pod()

    await PodNodeSelector(kept, {"clusterDefaultNodeSelector": "env=test"}).mutate(write(obj))

    assert obj["spec"]["nodeSelector"] == {"env": "prod"}


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ({"env": "test"}, "conflicts with its namespace node label selector"),
        ({"env": "prod", "x": "y"}, "labels conflict with its namespace whitelist"),
    ],
)
async def test_a_pod_asks_for_no_other_nodes(kept: Storage, selector: dict[str, str], why: str) -> None:
    await namespace(kept, node_selector="env=prod")

    with pytest.raises(errors.Forbidden, match=why):
        await PodNodeSelector(kept, {"default": "env=prod"}).mutate(write(pod(nodeSelector=selector)))


async def test_tolerations_come_from_the_namespace_and_stay_within_it(kept: Storage) -> None:
    await namespace(
        kept,
        defaultTolerations='[{"key": "a", "operator": "Exists"}]',
        tolerationsWhitelist='[{"key": "a", "operator": "Exists"}]',
    )
    plugin = PodTolerationRestriction(kept, pod_toleration_restriction.configured(None))
    obj = pod(containers=[])

    await plugin.mutate(write(obj))

    assert obj["spec"]["tolerations"] == [{"key": "a", "operator": "Exists"}]
    with pytest.raises(errors.StatusError, match="conflict with its namespace whitelist"):
        await plugin.mutate(write(pod(containers=[], tolerations=[{"key": "b", "operator": "Exists"}])))


def test_wider_tolerations_make_narrower_ones_superfluous() -> None:
    wide, narrow = {"operator": "Exists"}, {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}

    assert tolerations.merge([narrow], [wide]) == [wide]
    assert tolerations.merge([narrow], [{"key": "b", "operator": "Exists"}]) == [
        narrow,
        {"key": "b", "operator": "Exists"},
    ]


async def test_events_beyond_the_rate_are_too_many() -> None:
    clock = ManualClock()
    limits = event_rate_limit.configured({"limits": [{"type": "Namespace", "qps": 1, "burst": 2}]})
    plugin = EventRateLimit(limits, clock)
    event = write({"metadata": {"name": "e"}}, resource=EVENTS)

    for _ in range(2):
        await plugin.validate(event)
    with pytest.raises(errors.StatusError) as refusal:
        await plugin.validate(event)

    assert refusal.value.code == 429
    assert refusal.value.message == "Too many requests: limit reached on type Namespace for key default"


async def test_a_pod_carries_the_zone_of_its_node(kept: Storage) -> None:
    zone = {"topology.kubernetes.io/zone": "z"}
    await kept.create("n", {"metadata": {"name": "n", "labels": {**zone, "other": "x"}}})
    binding: dict[str, Any] = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    obj = pod(nodeName="n")

    await PodTopologyLabels(kept).mutate(write(binding, subresource="binding"))
    await PodTopologyLabels(kept).mutate(write(obj))

    assert binding["metadata"]["labels"] == zone
    assert obj["metadata"]["labels"] == zone


class _Deleter:
    """Allows deletions, but no updates of finalizers."""

    async def authorize(self, attributes: Question) -> Decision:
        return ALLOWED if attributes.verb == "delete" else NO_OPINION

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules()


async def test_who_blocks_the_deletion_of_an_owner_may_finalize_it(kept: Storage) -> None:
    plugin = OwnerReferencesPermissionEnforcement(_Deleter(), KindMapping(kept, Minor()))
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u"}
    old, free = {"metadata": {"name": "p"}}, {"metadata": {"name": "p", "ownerReferences": [owner]}}
    blocking = {"metadata": {"name": "p", "ownerReferences": [{**owner, "blockOwnerDeletion": True}]}}

    await plugin.validate(write(free, old=old))
    with pytest.raises(errors.Forbidden, match="resource you can't set finalizers on: , <nil>"):
        await plugin.validate(write(blocking, old=old))


async def test_an_owner_of_an_unknown_kind_is_told(kept: Storage) -> None:
    plugin = OwnerReferencesPermissionEnforcement(_Deleter(), KindMapping(kept, Minor()))
    owner = {"apiVersion": "x/v1", "kind": "Odd", "name": "r", "uid": "u", "blockOwnerDeletion": True}
    new = write({"metadata": {"name": "p", "ownerReferences": [owner]}})

    with pytest.raises(errors.Forbidden, match='no matches for kind "Odd" in version "x/v1"'):
        await plugin.validate(replace(new, name="p"))


def resized(cpu: str, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A pod on a node, after and before a resize."""
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    old = {"metadata": {"name": "p", "generation": 1}, "spec": {"nodeName": "n", "containers": []}}
    return {
        "metadata": {"name": "p", "generation": 2},
        "spec": {"nodeName": "n", "containers": [container], **more},
    }, old


@pytest.mark.parametrize(
    ("labels", "cpu", "why", "cause"),
    [
        (
            {},
            "3",
            "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000",
            "NodeCapacity",
        ),
        (
            {"kubernetes.io/os": "windows"},
            "1",
            'pod resize is only supported on linux nodes, node "n" is "windows"',
            "UnsupportedPlatform",
        ),
    ],
)
async def test_a_pod_grows_only_as_far_as_its_node(
    kept: Storage, labels: dict[str, str], cpu: str, why: str, cause: str
) -> None:
    status = {"allocatable": {"cpu": "2", "memory": "1Gi"}}
    await kept.create("n", {"metadata": {"name": "n", "labels": labels}, "status": status})
    new, old = resized(cpu)

    with pytest.raises(errors.Forbidden) as refusal:
        await PodResizeValidator(NodesOfPods(kept)).validate(write(new, old=old, subresource="resize"))

    assert refusal.value.message == f'pods "p" is forbidden: {why}'
    assert refusal.value.status()["details"]["causes"] == [{"reason": cause}]


async def test_an_update_needs_what_the_node_declares(kept: Storage) -> None:
    feature = "InPlacePodLevelResourcesVerticalScaling"
    await kept.create("n", {"metadata": {"name": "n"}, "status": {"declaredFeatures": []}})
    new, old = resized("1", resources={"limits": {"cpu": "1"}})
    plugin = NodeDeclaredFeatureValidator(NodesOfPods(kept))

    with pytest.raises(errors.Forbidden, match=f"requires features {feature} which are not available on node"):
        await plugin.validate(write(new, old=old, subresource="resize"))
    await plugin.validate(write(new, old={**old, "metadata": new["metadata"]}))

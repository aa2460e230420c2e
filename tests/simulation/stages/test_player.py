"""Stages in a simulated cluster: custom resources and pods move on as the clock does."""

from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

CORE = "/api/v1/namespaces/default"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STAGES = "/apis/kwok.x-k8s.io/v1alpha1/stages"
CARS = "/apis/example.com/v1/namespaces/default/cars"


@pytest.fixture
def client(server: Server, client: BlockingClient) -> BlockingClient:
    for group, version, kind, scope in (
        ("kwok.x-k8s.io", "v1alpha1", "Stage", "Cluster"),
        ("example.com", "v1", "Car", "Namespaced"),
    ):
        client.request("POST", DEFINITIONS, _definition(group, version, kind, scope))
    server.clock.advance(2)
    return client


def _definition(group: str, version: str, kind: str, scope: str) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = {"name": version, "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    spec = {"group": group, "scope": scope, "names": names, "versions": [served]}
    return {"metadata": {"name": f"{plural}.{group}"}, "spec": spec}


def _stage(client: BlockingClient, name: str, reference: tuple[str, str], **spec: Any) -> None:
    group, kind = reference
    body = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}}
    client.request("POST", STAGES, {**body, "spec": {"resourceRef": {"apiGroup": group, "kind": kind}, **spec}})


def _needs(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


CAR = ("example.com/v1", "Car")


def test_a_custom_resource_moves_through_two_stages(server: Server, client: BlockingClient) -> None:
    _stage(
        client,
        "built",
        CAR,
        selector={"matchExpressions": [_needs(".status.phase", "DoesNotExist")]},
        delay={"durationMilliseconds": 5000},
        next={"statusTemplate": "phase: Built\nsince: {{ Now | Quote }}\nname: {{ .metadata.name }}"},
    )
    _stage(
        client,
        "sold",
        CAR,
        selector={"matchExpressions": [_needs(".status.phase", "In", "Built")]},
        delay={"durationMilliseconds": 10000},
        next={
            "event": {"type": "Normal", "reason": "Sold", "message": "the car is sold"},
            "finalizers": {"add": [{"value": "example.com/paid"}]},
            "patches": [
                {"subresource": "status", "root": "status", "template": "phase: Sold", "type": "merge"},
                {"root": "metadata", "template": "labels: {sold: 'yes'}"},
            ],
        },
    )
    client.request("POST", CARS, {"apiVersion": "example.com/v1", "kind": "Car", "metadata": {"name": "a"}})
    server.clock.advance(4)
    assert "status" not in client.request("GET", f"{CARS}/a")

    server.clock.advance(2)
    built = client.request("GET", f"{CARS}/a")["status"]
    assert (built["phase"], built["name"]) == ("Built", "a")

    server.clock.advance(11)
    sold = client.request("GET", f"{CARS}/a")
    assert sold["status"]["phase"] == "Sold"
    assert sold["metadata"]["labels"] == {"sold": "yes"}
    assert sold["metadata"]["finalizers"] == ["example.com/paid"]
    assert "Sold" in [one["reason"] for one in client.request("GET", f"{CORE}/events")["items"]]


READY = """
{{ $now := Now }}
conditions:
- {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  restartCount: 0
  ready: true
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace | Quote }}
phase: Running
"""


def test_a_stage_applies_other_objects(server: Server, client: BlockingClient) -> None:
    template = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: key-of-{{ .metadata.name }}
data:
  colour: {{ .spec.colour | Quote }}
"""
    apply = {"apply": {"template": template}}
    mark = {"patch": {"root": "status", "subresource": "status", "template": "colour: {{ .spec.colour }}"}}
    changed = "!has(self.status) || self.status.colour != self.spec.colour"
    selector = {"matchExpressions": [{"cel": {"expression": changed}}]}
    _stage(client, "painted", CAR, selector=selector, steps=[apply, mark])
    client.request(
        "POST", CARS, {"apiVersion": CAR[0], "kind": "Car", "metadata": {"name": "a"}, "spec": {"colour": "red"}}
    )
    server.clock.advance(2)
    key = f"{CORE}/configmaps/key-of-a"
    assert client.request("GET", key)["data"] == {"colour": "red"}

    patch = {"spec": {"colour": "blue"}}
    client.request("PATCH", f"{CARS}/a", patch, content_type="application/merge-patch+json")
    server.clock.advance(2)
    assert client.request("GET", key)["data"] == {"colour": "blue"}


def test_pods_are_left_to_their_stages(server: Server, client: BlockingClient) -> None:
    pod = ("v1", "Pod")
    alive, ending = (
        _needs(".metadata.deletionTimestamp", "DoesNotExist"),
        _needs(".metadata.deletionTimestamp", "Exists"),
    )
    _stage(
        client,
        "ready",
        pod,
        selector={"matchExpressions": [alive, _needs(".status.phase", "In", "Pending")]},
        delay={"durationMilliseconds": 30000},
        next={"statusTemplate": READY},
    )
    _stage(
        client,
        "delete",
        pod,
        selector={"matchExpressions": [ending]},
        delay={"durationMilliseconds": 1000},
        next={"finalizers": {"empty": True}, "delete": True},
    )
    spec = {"containers": [{"name": "c", "image": "i"}]}
    metadata = {"name": "a", "finalizers": ["example.com/wait"]}
    client.request("POST", f"{CORE}/pods", {"metadata": metadata, "spec": spec})
    server.clock.advance(20)
    assert client.request("GET", f"{CORE}/pods/a")["status"]["phase"] == "Pending"

    server.clock.advance(20)
    status = client.request("GET", f"{CORE}/pods/a")["status"]
    assert status["phase"] == "Running"
    assert status["podIP"].startswith("10.128.")

    client.request("DELETE", f"{CORE}/pods/a")
    server.clock.advance(2)
    assert client.request("GET", f"{CORE}/pods")["items"] == []


def test_a_stage_with_an_unsupported_part_is_left_out_and_named(server: Server, client: BlockingClient) -> None:
    _stage(client, "odd", CAR, selector={}, next={"statusTemplate": "{{ unknownFunction . }}"})
    client.request("POST", CARS, {"apiVersion": "example.com/v1", "kind": "Car", "metadata": {"name": "a"}})
    server.clock.advance(2)

    events = client.request("GET", f"{CORE}/events")["items"]
    assert "unknownFunction" in next(one["message"] for one in events if one["reason"] == "Unsupported")
    assert "status" not in client.request("GET", f"{CARS}/a")


def test_malformed_stages_stop_no_others(server: Server, client: BlockingClient) -> None:
    bodies: list[dict[str, Any]] = [
        {},
        {"spec": {}},
        {"spec": {"resourceRef": {"apiGroup": []}}},
        {"spec": {"resourceRef": {"kind": ["Car"]}, "selector": [], "next": {}}},
    ]
    parts: tuple[dict[str, Any], ...] = (
        {"selector": {"matchExpressions": [{"key": r'.a["\x"]', "operator": "Exists"}]}},
        {"selector": {"matchLabels": ["a"]}},
        {"delay": {"durationMilliseconds": "soon"}},
        {"next": {"finalizers": {"add": [{}]}}},
        {"next": {"patches": ["x"]}},
    )
    reference = {"resourceRef": {"apiGroup": CAR[0], "kind": CAR[1]}}
    bodies += [{"spec": {**reference, "selector": {}, **part}} for part in parts]
    for number, body in enumerate(bodies):
        named = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": f"a{number}"}}
        client.request("POST", STAGES, {**named, **body})
    absent = {"matchExpressions": [_needs(".status", "DoesNotExist")]}
    _stage(client, "fine", CAR, selector=absent, next={"statusTemplate": "phase: Moved"})
    client.request("POST", CARS, {"apiVersion": CAR[0], "kind": CAR[1], "metadata": {"name": "a"}})
    server.clock.advance(2)

    assert client.request("GET", f"{CARS}/a")["status"] == {"phase": "Moved"}
    events = client.request("GET", f"{CORE}/events")["items"]
    told = [one["involvedObject"]["name"] for one in events if one["reason"] == "Unsupported"]
    assert sorted(told) == [f"a{number}" for number in range(len(bodies))]


def test_a_stage_may_be_for_stages(server: Server, client: BlockingClient) -> None:
    absent = {"matchLabels": {"a": "b"}, "matchExpressions": [_needs(".metadata.annotations.seen", "DoesNotExist")]}
    mark = {"root": "metadata", "type": "json", "template": "[{op: add, path: /annotations, value: {seen: 'yes'}}]"}
    stage = ("kwok.x-k8s.io/v1alpha1", "Stage")
    _stage(client, "mark", stage, selector=absent, next={"patches": [mark]})
    labelled = {"apiVersion": stage[0], "kind": stage[1], "metadata": {"name": "other", "labels": {"a": "b"}}}
    reference = {"resourceRef": {"apiGroup": CAR[0], "kind": CAR[1]}}
    client.request("POST", STAGES, {**labelled, "spec": reference})
    server.clock.advance(2)

    assert client.request("GET", f"{STAGES}/other")["metadata"]["annotations"] == {"seen": "yes"}
    assert "annotations" not in client.request("GET", f"{STAGES}/mark")["metadata"]


VOLUME = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: "of-{{ .metadata.name }}"}
spec:
  accessModes:
  {{ YAML .spec.accessModes 2 }}
  capacity:
  {{ YAML .spec.resources.requests 2 }}
  storageClassName: {{ .spec.storageClassName | Quote }}
  claimRef: {kind: PersistentVolumeClaim, name: {{ .metadata.name }}, namespace: default, uid: {{ .metadata.uid }}}
  hostPath: {path: /tmp/of-stages}
"""


def test_claims_are_left_to_their_stages() -> None:
    wanted = "!has(self.metadata.deletionTimestamp) && !has(self.spec.volumeName) && self.status.phase != 'Bound'"
    bind = {"patch": {"root": "spec", "template": "volumeName: of-{{ .metadata.name }}"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = f"{CORE}/persistentvolumeclaims"

    with (
        Server(
            simulate=True, controllers=("persistentvolume-binder-controller",), time="2026-01-01T00:00:00Z"
        ) as server,
        server.client() as client,
    ):
        client.request("POST", DEFINITIONS, _definition("kwok.x-k8s.io", "v1alpha1", "Stage", "Cluster"))
        server.clock.advance(2)
        _stage(
            client,
            "provision",
            ("v1", "PersistentVolumeClaim"),
            selector={"matchExpressions": [{"cel": {"expression": wanted}}]},
            steps=[{"apply": {"template": VOLUME}}, bind],
        )
        server.clock.advance(2)
        client.request("POST", claims, {"metadata": {"name": "data"}, "spec": spec})
        server.clock.advance(10)
        claim = client.request("GET", f"{claims}/data")
        volumes = client.request("GET", "/api/v1/persistentvolumes")["items"]

    assert (claim["spec"]["volumeName"], claim["status"]["phase"]) == ("of-data", "Bound")
    assert [one["metadata"]["name"] for one in volumes] == ["of-data"]


def test_an_object_that_the_server_finds_invalid_is_told(server: Server, client: BlockingClient) -> None:
    template = "{apiVersion: v1, kind: ConfigMap, metadata: {name: Not_valid}}"
    _stage(client, "wrong", CAR, selector={}, steps=[{"apply": {"template": template}}])
    client.request("POST", CARS, {"apiVersion": CAR[0], "kind": CAR[1], "metadata": {"name": "a"}})
    server.clock.advance(2)

    events = client.request("GET", f"{CORE}/events")["items"]
    assert 'ConfigMap "Not_valid" is invalid' in next(one["message"] for one in events if one["reason"] == "Failed")


CONDITIONS = """
conditions:
{{ range NodeConditions }}
- type: {{ .type }}
  status: {{ .status | Quote }}
{{ end }}
phase: Running
"""


def test_nodes_get_ready_by_their_stages(server: Server, client: BlockingClient) -> None:
    _stage(
        client,
        "initialize",
        ("v1", "Node"),
        selector={
            "matchExpressions": [
                _needs('.status.conditions.[] | select( .type == "Ready" ) | .status', "NotIn", "True")
            ]
        },
        next={"statusTemplate": CONDITIONS},
    )
    metadata = {"name": "fake", "annotations": {"simulate.aio-apiserver/node": "true"}}
    client.request("POST", "/api/v1/nodes", {"metadata": metadata})
    client.request("POST", "/api/v1/nodes", {"metadata": {"name": "real"}})
    server.clock.advance(2)

    fake = client.request("GET", "/api/v1/nodes/fake")
    assert fake["status"]["phase"] == "Running"
    assert "taints" not in fake["spec"]
    assert "phase" not in client.request("GET", "/api/v1/nodes/real").get("status", {})

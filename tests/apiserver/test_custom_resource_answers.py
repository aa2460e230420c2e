"""What a server answers about custom resources, as kube-apiserver does: defaults of the status, rules, conditions."""

from collections.abc import Iterator
from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/example.com/v1/namespaces/default/things"
STATUS = {
    "type": "object",
    "default": {"state": "new"},
    "properties": {"state": {"type": "string"}, "tries": {"type": "integer", "default": 3}},
}
SPEC = {
    "type": "object",
    "properties": {"size": {"type": "string"}},
    "x-kubernetes-validations": [{"rule": "self.size == 'small'"}],
}


def definition(group: str, plural: str, **annotations: str) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC, "status": STATUS}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    names = {"plural": plural, "singular": plural[:-1], "kind": plural[:-1].capitalize()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": annotations},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def thing(size: str, **metadata: str) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata, "spec": {"size": size}}


@pytest.fixture(scope="module")
def client() -> Iterator[BlockingClient]:
    approved = {"api-approved.kubernetes.io": "https://example.com/1"}
    manifests = [definition("example.com", "things"), definition("test.k8s.io", "parts", **approved)]
    with Server(manifests=manifests) as server, server.client() as client:
        yield client


def test_the_answer_to_a_creation_has_the_defaults_of_the_status(client: BlockingClient) -> None:
    made = client.request("POST", THINGS, {**thing("small", name="one"), "status": {"tries": 7}})

    assert made["status"] == {"state": "new", "tries": 3}
    assert client.request("GET", f"{THINGS}/one")["status"] == made["status"]


@pytest.mark.parametrize("query", ["", "?dryRun=All"])
def test_the_metadata_of_a_created_object_has_sorted_names(client: BlockingClient, query: str) -> None:
    made = client.request("POST", f"{THINGS}{query}", thing("small", name="sorted"))

    assert list(made["metadata"]) == sorted(made["metadata"])
    assert ("resourceVersion" in made["metadata"]) == (not query)
    client.exchange("DELETE", f"{THINGS}/sorted")


def test_rules_are_not_checked_without_a_name(client: BlockingClient) -> None:
    refused = client.exchange("POST", THINGS, thing("large"))

    assert refused.status == 422
    assert "some validation rules were not checked" in refused.message
    assert "failed rule" not in refused.message


def test_the_approval_stands_before_the_accepted_names(client: BlockingClient) -> None:
    crd = client.request("GET", f"{DEFINITIONS}/parts.test.k8s.io")

    assert [one["type"] for one in crd["status"]["conditions"]][:2] == [
        "KubernetesAPIApprovalPolicyConformant",
        "NamesAccepted",
    ]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"a": 2**63}, ".data.a: expected string, got &value.valueUnstructured{Value:9.223372036854776e+18}"),
        (2**63, ".data: expected map, got &{9.223372036854776e+18}"),
    ],
)
def test_an_apply_shows_numbers_beyond_64_bits_as_floats(client: BlockingClient, data: Any, found: str) -> None:
    path = "/api/v1/namespaces/default/configmaps/m?fieldManager=m"
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data}

    refused = client.exchange("PATCH", path, applied, content_type="application/apply-patch+yaml")

    assert refused.message.endswith(found)


def test_the_value_of_an_enum_is_shown_as_json(client: BlockingClient) -> None:
    service = {"metadata": {"name": "s"}, "spec": {"type": "x\0", "ports": [{"port": 80}]}}

    refused = client.exchange("POST", "/api/v1/namespaces/default/services", service)

    assert 'spec.type: Unsupported value: "x\\u0000"' in refused.message


def test_a_conflict_with_another_version_names_it(client: BlockingClient) -> None:
    autoscalers = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
    client.request("POST", f"{autoscalers.format('v2')}?fieldManager=a", autoscaler("v2", most=3))

    path, applied = f"{autoscalers.format('v1')}/h?fieldManager=b", autoscaler("v1", most=4)
    refused = client.exchange("PATCH", path, applied, content_type="application/apply-patch+yaml")

    assert refused.message.endswith('conflict with "a" using autoscaling/v2: .spec.maxReplicas')


def autoscaler(version: str, most: int) -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
        "spec": {"scaleTargetRef": target, "maxReplicas": most},
    }


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("self.size.frob()", "1:15: undeclared reference to 'frob' (in container '')"),
        ("self.size.size(1)", "found no matching overload for 'size' applied to 'string.(int)'"),
    ],
)
def test_the_error_of_an_unknown_method_names_it_and_its_types(client: BlockingClient, rule: str, found: str) -> None:
    crd = definition("example.com", "rules")
    properties = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    properties["spec"] = {**SPEC, "x-kubernetes-validations": [{"rule": rule}]}

    refused = client.exchange("POST", f"{DEFINITIONS}?dryRun=All", crd)

    assert found in refused.message


def test_an_error_of_versions_shows_a_schema_of_null_beside_a_missing_one(client: BlockingClient) -> None:
    crd = definition("example.com", "nulls")
    (version,) = crd["spec"]["versions"]
    crd["spec"]["versions"] = [{**version, "schema": {"openAPIV3Schema": None}}, {**version, "schema": None}]

    refused = client.exchange("POST", f"{DEFINITIONS}?dryRun=All", crd)

    assert '"Schema":{"OpenAPIV3Schema":null}' in refused.message
    assert '"Schema":null' in refused.message


def test_the_operator_of_a_selector_is_shown_as_json(client: BlockingClient) -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "I\0n"}]}
    budget = {"metadata": {"name": "b"}, "spec": {"selector": selector}}

    refused = client.exchange("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)

    assert '"I\\u0000n": not a valid selector operator' in refused.message


def status_of(client: BlockingClient, path: str) -> int:
    return client.exchange("GET", path).status


def test_a_path_is_served_as_the_definitions_of_the_moment_say(client: BlockingClient) -> None:
    fleeting = definition("example.com", "flies")
    path = "/apis/example.com/v1/namespaces/default/flies"
    in_namespaces = []
    for scope in ("Namespaced", "Cluster"):
        fleeting["spec"]["scope"] = scope
        client.request("POST", DEFINITIONS, fleeting)
        while status_of(client, "/apis/example.com/v1/flies") != 200:
            pass
        in_namespaces.append(status_of(client, path))
        client.request("DELETE", f"{DEFINITIONS}/flies.example.com")
        while status_of(client, "/apis/example.com/v1/flies") != 404:
            pass
        in_namespaces.append(status_of(client, path))

    assert in_namespaces == [200, 404, 404, 404]

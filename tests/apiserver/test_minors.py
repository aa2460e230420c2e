"""Servers of several minors of Kubernetes: in one process, on one store after each other, and beside each other."""

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient
from tests.storage.kv.etcd_server import Member

POLICIES = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
AUTOSCALERS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
DRIVERS = "/apis/storage.k8s.io/v1/csidrivers"
PODS = "/api/v1/namespaces/default/pods"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
SETS = "/apis/apps/v1/namespaces/default/statefulsets"

AUTOSCALER = {
    "metadata": {"name": "web"},
    "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3},
}
POD: dict[str, Any] = {
    "metadata": {"name": "old"},
    "spec": {"containers": [{"name": "c", "image": "i"}], "hostAliases": []},
}
DRIVER = {
    "metadata": {"name": "d"},
    "spec": {"tokenRequests": [{"audience": ""}], "serviceAccountTokenInSecrets": True},
}
ALIAS = {"ip": "010.1.2.3", "hostnames": ["a"]}


def stateful_set(name: str) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}


@contextmanager
def client_of(minor: str, **settings: Any) -> Iterator[BlockingClient]:
    with Server(kubernetes_version=minor, **settings) as server, server.client() as client:
        yield client


def test_two_minors_in_one_process_answer_as_themselves() -> None:
    with client_of("1.35") as old, client_of("1.37") as new:
        versions = [one.request("GET", "/version")["minor"] for one in (old, new)]
        policies = [one.exchange("GET", POLICIES).status for one in (old, new)]
        made = [one.request("POST", AUTOSCALERS, AUTOSCALER)["metadata"] for one in (old, new)]

    assert versions == ["35", "37"]
    assert policies == [404, 200]
    assert ["generation" in one for one in made] == [False, True]


def test_an_older_minor_takes_what_a_newer_one_refuses() -> None:
    pod = {**POD, "spec": {**POD["spec"], "hostAliases": [ALIAS]}}
    with client_of("1.35") as old, client_of("1.36") as new:
        taken, refused = (one.exchange("POST", PODS, pod) for one in (old, new))

    assert (taken.status, len(taken.warnings)) == (201, 1)
    assert (refused.status, "must not have leading 0s" in refused.message) == (422, True)


@pytest.mark.parametrize("minor", ["1.33", "1.34", "1.35", "1.36", "1.37"])
def test_every_minor_starts_with_the_roles_and_groups_of_its_time(minor: str) -> None:
    with client_of(minor) as client:
        groups = {one["name"] for one in client.request("GET", "/apis")["groups"]}
        roles = {one["metadata"]["name"] for one in client.request("GET", ROLES)["items"]}

    assert ("storagemigration.k8s.io" in groups) is (minor == "1.37")
    assert ("resource.k8s.io" in groups) is (minor != "1.33")
    assert ("system:controller:storage-version-migrator-controller" in roles) is (minor == "1.37")


def test_an_unknown_minor_is_refused() -> None:
    with pytest.raises(ValueError, match=r"this server cannot be Kubernetes \"1.20\": it can be 1.33, 1.34,"):
        Settings.model_validate({"kubernetes_version": "1.20"})


def test_a_newer_server_takes_over_the_store_of_an_older_one(tmp_path: Path) -> None:
    store = {"storage_backend": "sqlite", "data_dir": tmp_path}
    with client_of("1.35", **store) as old:
        old.request("POST", SETS, stateful_set("before"))
        old.request("POST", PODS, POD)

    with client_of("1.37", **store) as new:
        kept = new.request("GET", f"{SETS}/before")
        patch = {"metadata": {"labels": {"a": "b"}}}
        written = new.request("PATCH", f"{SETS}/before", patch, content_type="application/merge-patch+json")
        services = new.exchange("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.storagemigration.k8s.io")
    with client_of("1.35", **store) as old:
        gone = old.exchange("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.storagemigration.k8s.io")

    assert kept["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] == 1
    assert written["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] == 1
    assert (services.status, gone.status) == (200, 404)


def test_a_policy_of_a_beta_version_is_served_as_v1_after_the_upgrade(tmp_path: Path) -> None:
    store = {"storage_backend": "sqlite", "data_dir": tmp_path}
    beta = "/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    mutation = {
        "patchType": "JSONPatch",
        "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/data/x', value: 'y'}]"},
    }
    spec = {"matchConstraints": {"resourceRules": [rule]}, "mutations": [mutation], "reinvocationPolicy": "Never"}
    with client_of("1.35", **store, runtime_config="admissionregistration.k8s.io/v1beta1=true") as old:
        old.request("POST", beta, {"metadata": {"name": "old"}, "spec": spec})

    with client_of("1.36", **store) as new:
        found = new.request("GET", f"{POLICIES}/old")

    assert found["apiVersion"] == "admissionregistration.k8s.io/v1"
    assert found["spec"]["mutations"] == [mutation]


def test_1_33_prints_times_that_are_not_set_and_values_in_go_syntax() -> None:
    unfit = stateful_set("unfit")
    unfit["spec"]["selector"] = {"matchLabels": {"c": "d"}}
    owned = stateful_set("owned")
    owned["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "", "uid": "1"}]
    with client_of("1.33") as old, client_of("1.34") as new:
        made = [one.request("POST", SETS, stateful_set("a"))["spec"]["template"]["metadata"] for one in (old, new)]
        refused = [one.exchange("POST", SETS, unfit).message for one in (old, new)]
        nameless = old.exchange("POST", SETS, owned).message

    assert [one.get("creationTimestamp", "absent") for one in made] == [None, "absent"]
    assert 'Invalid value: map[string]string{"a":"b"}: `selector`' in refused[0]
    assert 'Invalid value: {"a":"b"}: `selector`' in refused[1]
    assert 'metadata.ownerReferences.name: Invalid value: "": name must not be empty' in nameless


CIDRS = "/apis/networking.k8s.io/v1beta1/servicecidrs"
WARNING = "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+"


def test_deprecations_and_removals_are_those_of_the_minor(free_port: int) -> None:
    answers, metrics = [], []
    for minor in ("1.33", "1.35", "1.37"):
        beta = {"runtime_config": ("networking.k8s.io/v1beta1=true",), "insecure_port": free_port}
        with client_of(minor, **beta) as client:
            answers.append(client.exchange("GET", CIDRS))
            metrics.append(deprecated_apis(free_port))

    assert [one.status for one in answers] == [200, 200, 404]
    assert [one.warnings for one in answers] == [[], [WARNING], []]
    assert [one.count('removed_release="1.37",resource="servicecidrs"') for one in metrics] == [0, 1, 0]


def deprecated_apis(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        lines = response.read().decode().splitlines()
    return "\n".join(line for line in lines if line.startswith("apiserver_requested_deprecated_apis{"))


def test_the_environment_names_the_minor_of_a_server_that_is_not_given_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APISERVER_KUBERNETES_VERSION", "1.34")

    with Server() as server, server.client() as client:
        version = client.request("GET", "/version")
    given = Settings.model_validate({"kubernetes_version": "1.37"})

    assert version["minor"] == "34"
    assert given.minor.text == "1.37"


def test_without_a_choice_the_server_is_the_newest_minor_with_a_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("APISERVER_KUBERNETES_VERSION", raising=False)

    assert Settings().minor.text == "1.36"


def test_an_older_server_drops_the_fields_that_it_does_not_know(tmp_path: Path) -> None:
    store = {"storage_backend": "sqlite", "data_dir": tmp_path}
    with client_of("1.35", **store) as new:
        made = new.request("POST", DRIVERS, DRIVER)

    with client_of("1.34", **store) as old:
        read = old.request("GET", f"{DRIVERS}/d")
        listed = old.request("GET", DRIVERS)["items"]
        written = old.request("PATCH", f"{DRIVERS}/d", {}, content_type="application/merge-patch+json")
        again = old.request("PATCH", f"{DRIVERS}/d", {}, content_type="application/merge-patch+json")
    with client_of("1.35", **store) as new:
        left = new.request("GET", f"{DRIVERS}/d")

    assert made["spec"]["serviceAccountTokenInSecrets"] is True
    assert "serviceAccountTokenInSecrets" not in read["spec"]
    assert "serviceAccountTokenInSecrets" not in listed[0]["spec"]
    assert read["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    assert int(written["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    assert again["metadata"]["resourceVersion"] == written["metadata"]["resourceVersion"]
    assert "serviceAccountTokenInSecrets" not in left["spec"]


def test_replicas_are_upgraded_one_after_the_other_on_one_etcd() -> None:
    with Member() as etcd:
        shared = {"storage_backend": "etcd3", "etcd_servers": (etcd.endpoint,)}
        with client_of("1.34", **shared) as first:
            first.request("POST", DRIVERS, {**DRIVER, "metadata": {"name": "a"}})
            with client_of("1.34", **shared) as second:
                second.request("POST", SETS, stateful_set("a"))
            with client_of("1.35", **shared) as second:
                second.request("POST", DRIVERS, {**DRIVER, "metadata": {"name": "b"}})
                second.request("POST", SETS, stateful_set("b"))
                between = [names_and_tokens(one) for one in (first, second)]
                sets = [{one["metadata"]["name"] for one in by.request("GET", SETS)["items"]} for by in (first, second)]
                after = first.request("POST", SETS, stateful_set("c"))
        with client_of("1.35", **shared) as first:
            upgraded = names_and_tokens(first)

    assert between == [{"a": None, "b": None}, {"a": None, "b": True}]
    assert sets == [{"a", "b"}] * 2
    assert after["metadata"]["name"] == "c"
    assert upgraded == {"a": None, "b": True}


def names_and_tokens(client: BlockingClient) -> dict[str, bool | None]:
    items = client.request("GET", DRIVERS)["items"]
    return {one["metadata"]["name"]: one["spec"].get("serviceAccountTokenInSecrets") for one in items}

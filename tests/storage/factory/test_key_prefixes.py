"""Keys: exactly where kube-apiserver keeps its objects."""

import pytest

from aio_apiserver.storage.factory.key_prefixes import key_prefix


@pytest.mark.parametrize(
    ("group", "resource", "expected"),
    [
        ("", "pods", "/registry/pods/"),
        ("", "configmaps", "/registry/configmaps/"),
        ("", "nodes", "/registry/minions/"),
        ("", "replicationcontrollers", "/registry/controllers/"),
        ("", "services", "/registry/services/specs/"),
        ("", "endpoints", "/registry/services/endpoints/"),
        ("", "events", "/registry/events/"),
        ("events.k8s.io", "events", "/registry/events/"),
        ("apps", "deployments", "/registry/deployments/"),
        ("batch", "jobs", "/registry/jobs/"),
        ("networking.k8s.io", "ingresses", "/registry/ingress/"),
        ("networking.k8s.io", "ingressclasses", "/registry/ingressclasses/"),
        ("coordination.k8s.io", "leases", "/registry/leases/"),
        ("rbac.authorization.k8s.io", "clusterroles", "/registry/clusterroles/"),
        ("apiregistration.k8s.io", "apiservices", "/registry/apiregistration.k8s.io/apiservices/"),
        ("stable.example.com", "crontabs", "/registry/stable.example.com/crontabs/"),
        ("gateway.networking.k8s.io", "gateways", "/registry/gateway.networking.k8s.io/gateways/"),
    ],
)  # fmt: skip
def test_keys_are_where_kube_apiserver_has_them(group: str, resource: str, expected: str) -> None:
    assert key_prefix("/registry", group, resource) == expected


def test_definitions_of_custom_resources_are_under_their_group() -> None:
    prefix = key_prefix("/registry", "apiextensions.k8s.io", "customresourcedefinitions")

    assert prefix == "/registry/apiextensions.k8s.io/customresourcedefinitions/"


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("registry", "/registry/pods/"),
        ("/registry/", "/registry/pods/"),
        ("/a//b/../c", "/a/c/pods/"),
        ("", "/pods/"),
        ("/", "/pods/"),
    ],
)
def test_a_prefix_is_cleaned_like_a_path(prefix: str, expected: str) -> None:
    assert key_prefix(prefix, "", "pods") == expected


def test_custom_resources_are_never_kept_where_built_in_ones_are() -> None:
    custom = key_prefix("/registry", "networking.k8s.io", "ingresses", is_custom=True)

    assert custom == "/registry/networking.k8s.io/ingresses/"
    assert custom != key_prefix("/registry", "networking.k8s.io", "ingresses")

"""The keys of each kind in the store: the same as kube-apiserver's."""

import pytest

from aio_apiserver.registry.controlplane.providers import PROVIDERS
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.generic.webhook_calls import call_none
from aio_apiserver.registry.groups.apiextensions.definitions import definition as definitions
from aio_apiserver.registry.groups.apiextensions.serving import versioned_storage
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject
from tests.registry.groups.apiextensions.example_definitions import definition

KINDS = {
    (kind.group, kind.plural): kind
    for provider in PROVIDERS
    if isinstance(provider, KindsProvider)
    for kind in provider.kinds
}
ELSEWHERE = {
    ("", "nodes"): "minions",
    ("", "replicationcontrollers"): "controllers",
    ("", "services"): "services/specs",
    ("", "endpoints"): "services/endpoints",
    ("networking.k8s.io", "ingresses"): "ingress",
    ("apiregistration.k8s.io", "apiservices"): "apiregistration.k8s.io/apiservices",
    ("apiextensions.k8s.io", "customresourcedefinitions"): "apiextensions.k8s.io/customresourcedefinitions",
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: f"{kind.plural}.{kind.group}")
def test_keys_are_where_kube_apiserver_has_them(kind: Kind) -> None:
    expected = ELSEWHERE.get((kind.group, kind.plural), kind.plural)

    assert resource_of(kind.stored_as or kind).place == expected
    assert kind.place == expected


def test_both_groups_of_events_have_one_place_and_no_cache() -> None:
    events = [kind for kind in KINDS.values() if kind.plural == "events"]

    assert len(events) == 2
    assert {kind.place for kind in events} == {"events"}
    assert not any(resource_of(kind).is_cached for kind in events)


def test_custom_resources_are_never_kept_where_built_in_ones_are() -> None:
    crd = definition("ingresses", group="networking.k8s.io")
    crd["metadata"]["uid"] = "1"
    crd["status"] = {"acceptedNames": crd["spec"]["names"], "storedVersions": ["v1"]}
    found = definitions.parse(StoredObject.of("a", 1, crd, ObjectReader(lambda _: {}, lambda _: {})))
    types = {"v1": CustomType(definitions.SchemaSource(found).reader_of("v1"), builtin())}

    [resource] = versioned_storage.resources_of(found, types, call_none).values()

    assert resource.place == "networking.k8s.io/ingresses"

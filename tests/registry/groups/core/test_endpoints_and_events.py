"""Tests endpoints, endpoint slices, events, leases and nodes: errors and allowed changes."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.coordination.leases import LEASES
from aio_apiserver.registry.groups.core.events.events import EVENTS, EventStrategy
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.services.endpoints import ENDPOINTS
from aio_apiserver.registry.groups.discovery.endpointslices import ENDPOINTSLICES
from tests.registry.defaulted import CONTEXT, created, defaulted, updated

EVENT: dict[str, Any] = {
    "metadata": {"name": "e", "namespace": "default"},
    "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    "eventTime": "2030-01-02T03:04:05.000006Z",
    "reportingComponent": "example.com/c",
    "reportingInstance": "i",
    "action": "Act",
    "reason": "Because",
    "type": "Normal",
}


def errors_of(kind: Kind, value: dict[str, Any]) -> list[str]:
    return [str(error) for error in kind.strategy.validate(CONTEXT, created(kind, value))]


@pytest.mark.parametrize(
    ("subset", "errors"),
    [
        ({}, ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]),
        (
            {"addresses": [{"ip": "127.0.0.1"}]},
            [
                'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": '
                "may not be in the loopback range (127.0.0.0/8, ::1/128)"
            ],
        ),
        (
            {"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}, {"port": 81, "name": "b"}]},
            ["subsets[0].ports[0].name: Required value"],
        ),
    ],
)
def test_invalid_endpoints_are_refused(subset: dict[str, Any], errors: list[str]) -> None:
    assert errors_of(ENDPOINTS, {"subsets": [subset]}) == errors


def test_subsets_that_were_stored_stay_valid_until_they_change() -> None:
    old = created(ENDPOINTS, {"subsets": [{"addresses": [{"ip": "127.0.0.1"}]}]})
    same = updated(ENDPOINTS, old, {"subsets": old["subsets"], "metadata": {"name": "a", "labels": {"l": "m"}}})
    other = updated(ENDPOINTS, old, {"subsets": [{"addresses": [{"ip": "127.0.0.2"}]}]})

    for metadata in (old["metadata"], same["metadata"], other["metadata"]):
        metadata["namespace"] = "default"

    assert ENDPOINTS.strategy.validate_update(CONTEXT, same, old) == []
    assert ENDPOINTS.strategy.validate_update(CONTEXT, other, old) != []


@pytest.mark.parametrize(
    ("address_type", "address", "detail"),
    [
        ("IPv4", "fd00::1", "must be an IPv4 address"),
        ("IPv6", "FD00::1", 'must be in canonical form ("fd00::1")'),
        ("FQDN", "local", "should be a domain with at least two segments separated by dots"),
    ],
)
def test_addresses_of_slices_are_of_their_type(address_type: str, address: str, detail: str) -> None:
    slice_of = {"addressType": address_type, "endpoints": [{"addresses": [address]}], "ports": []}

    (error,) = errors_of(ENDPOINTSLICES, slice_of)

    assert error.endswith(detail)


def test_a_changed_label_of_a_slice_increments_the_generation() -> None:
    old = created(ENDPOINTSLICES, {"addressType": "IPv4", "endpoints": []})

    new = updated(ENDPOINTSLICES, old, {"addressType": "IPv4", "metadata": {"name": "a", "labels": {"l": "m"}}})

    assert new["metadata"]["generation"] == 2


def test_an_event_of_events_k8s_io_can_change_its_series_alone() -> None:
    strategy = EventStrategy(is_strict=True)
    old = {**defaulted(EVENTS, EVENT), "metadata": {**EVENT["metadata"], "resourceVersion": "1"}}
    series = {"count": 2, "lastObservedTime": "2030-01-02T03:04:05.000006Z"}

    allowed = strategy.validate_update(CONTEXT, {**old, "series": series}, old)
    refused = strategy.validate_update(CONTEXT, {**old, "message": "m"}, old)

    assert allowed == []
    assert [str(error) for error in refused] == ['message: Invalid value: "m": field is immutable']


@pytest.mark.parametrize(("is_strict", "path"), [(True, "reportingController"), (False, "reportingComponent")])
def test_errors_name_the_controller_as_the_group_does(is_strict: bool, path: str) -> None:
    obj = defaulted(EVENTS, {**EVENT, "reportingComponent": "Bad Name"})

    (error,) = EventStrategy(is_strict=is_strict).validate(CONTEXT, obj)

    assert error.path == path


def test_a_lease_duration_is_positive() -> None:
    assert errors_of(LEASES, {"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}}) == [
        "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ]


def test_both_fields_for_the_pod_cidr_of_a_node_are_equal() -> None:
    node = defaulted(NODES, {"spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.9.0.0/24"]}})

    assert node["spec"] == {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}


def test_taints_are_unique_by_key_and_effect() -> None:
    taints = [{"key": "a", "value": value, "effect": "NoSchedule"} for value in ("b", "c")]

    assert errors_of(NODES, {"spec": {"taints": taints}}) == [
        'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"c","Effect":"NoSchedule","TimeAdded":null}: '
        "taints must be unique by key and effect pair"
    ]


def test_a_new_event_of_events_k8s_io_gets_the_errors_of_all_events_first() -> None:
    value = {**EVENT, "metadata": {"name": "Bad_Name", "namespace": "default"}, "reportingInstance": ""}
    strict = EventStrategy(is_strict=True)

    fields = [error.path for error in strict.validate(CONTEXT, created(EVENTS, value))]

    assert fields == ["reportingInstance", "metadata.name"]

"""Tests the devices of a ResourceSlice."""

from typing import Any

from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.resource.resourceslices import RESOURCESLICES

CONTEXT = StrategyContext(namespace="")


def slice_of(device: dict[str, Any]) -> dict[str, Any]:
    pool = {"name": "p", "resourceSliceCount": 1}
    spec = {"driver": "d.example.com", "pool": pool, "nodeName": "n", "devices": [{"name": "one", **device}]}
    return {"metadata": {"name": "s", "generation": 1}, "spec": spec}


def test_attributes_are_counted_twice() -> None:
    attributes = {f"a{number}": {"int": number} for number in range(49)}

    found = [str(error) for error in RESOURCESLICES.strategy.validate(CONTEXT, slice_of({"attributes": attributes}))]

    assert found == [
        "spec.devices[0]: Invalid value: 49: the total number of attributes and capacities must not exceed 32",
        "spec.devices[0]: Invalid value: 49: the total number of attribute values must not exceed 48",
    ]


def test_devices_and_an_empty_list_of_counters_are_refused() -> None:
    context = StrategyContext(namespace="", empties=[Empty(("spec", "sharedCounters"), False)])

    (error,) = RESOURCESLICES.strategy.validate(context, slice_of({}))

    assert error.detail == "only one of `sharedCounters` or `devices` is allowed"


def test_dropped_fields_increment_the_generation() -> None:
    old, new = slice_of({"attributes": {"a": {"int": 1}}}), slice_of({"attributes": {"a": {"int": 1, "ints": [1]}}})

    preparation.prepare_changed(RESOURCESLICES.at(Minor()), RESOURCESLICES.strategy, new=new, old=old, context=CONTEXT)

    assert new["spec"] == old["spec"]
    assert new["metadata"]["generation"] == 2

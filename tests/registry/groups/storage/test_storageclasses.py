"""Tests storage classes."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.storage.storageclasses import STORAGECLASSES

OLD = {
    "metadata": {"name": "s"},
    "provisioner": "a",
    "parameters": {"k": "v"},
    "reclaimPolicy": "Retain",
    "volumeBindingMode": "Immediate",
}


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"parameters": {"b": "1", "a": "2"}}, 'parameters: Invalid value: {"a":"2","b":"1"}'),
        ({"parameters": {}}, "parameters: Invalid value: {}"),
        ({"parameters": None}, "parameters: Invalid value: null"),
        ({"provisioner": ""}, 'provisioner: Invalid value: ""'),
        ({"reclaimPolicy": ""}, 'reclaimPolicy: Invalid value: ""'),
    ],
)
def test_immutable_fields_are_shown_as_sent(change: dict[str, Any], shown: str) -> None:
    new = {name: value for name, value in {**OLD, **change}.items() if value is not None}

    found = STORAGECLASSES.strategy.validate_update(StrategyContext(namespace=""), new, OLD)

    assert f"{shown}: field is immutable" in [str(error) for error in found]

"""Conditions in a status."""

from typing import Any

from aio_apiserver.registry.base import conditions

READY = {"type": "Ready", "status": "True", "reason": "Fine"}


def status(*present: dict[str, Any]) -> dict[str, Any]:
    return {"conditions": [dict(one) for one in present]}


def test_a_first_condition_begins_now() -> None:
    found: dict[str, Any] = {}

    conditions.put(found, READY, now="now")

    assert found == status({**READY, "lastTransitionTime": "now"})


def test_a_condition_of_the_same_status_has_not_begun_anew() -> None:
    other = {"type": "Other", "status": "False"}
    found = status({**READY, "reason": "Late", "lastTransitionTime": "then"}, other)

    conditions.put(found, READY, now="now")

    assert found == status({**READY, "lastTransitionTime": "then"}, other)


def test_a_condition_of_another_status_begins_now() -> None:
    found = status({**READY, "status": "False", "lastTransitionTime": "then"})

    conditions.put(found, READY, now="now")

    assert found == status({**READY, "lastTransitionTime": "now"})


def test_what_is_not_said_is_neither_true_nor_false() -> None:
    found = status({**READY, "status": "Unknown"})

    assert not conditions.is_true(found, "Ready")
    assert not conditions.is_false(found, "Ready")
    assert conditions.find(found, "Other") is None

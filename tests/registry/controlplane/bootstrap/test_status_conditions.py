"""Conditions that the server's own loops apply."""

from aio_apiserver.registry.controlplane.bootstrap import status_conditions

WANTED = {"type": "Dangling", "status": "False", "reason": "Found", "message": "m"}
NOW = 1_700_000_000.0


def test_a_condition_that_is_otherwise_is_applied_whole() -> None:
    present = {**WANTED, "message": "other", "lastTransitionTime": "2020-01-01T00:00:00Z"}

    status = status_conditions.wanted_status({"status": {"conditions": [present]}}, WANTED, now=NOW)

    assert status == {"conditions": [{**WANTED, "lastTransitionTime": "2023-11-14T22:13:20Z"}]}


def test_a_condition_that_is_there_is_left_alone() -> None:
    present = {**WANTED, "lastTransitionTime": "2020-01-01T00:00:00Z"}

    assert status_conditions.wanted_status({"status": {"conditions": [present]}}, WANTED, now=NOW) is None

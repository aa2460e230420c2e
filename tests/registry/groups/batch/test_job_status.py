"""Tests the validation of the status of jobs."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.batch.job_status import validate

START, END = "2030-01-01T00:00:00Z", "2030-01-01T00:01:00Z"


def job(status: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"spec": {"completionMode": "NonIndexed", "completions": 5, "parallelism": 2, **spec}, "status": status}


def conditions(*names: str) -> list[dict[str, str]]:
    return [{"type": name, "status": "True"} for name in names]


def told(new: dict[str, Any], old: dict[str, Any] | None = None, **spec: Any) -> list[str]:
    return [str(error) for error in validate(job(new, **spec), job(old or {}, **spec))]


def test_the_status_of_a_complete_job_is_accepted() -> None:
    complete = {"conditions": conditions("SuccessCriteriaMet", "Complete"), "startTime": START, "completionTime": END}

    assert told(complete, {"active": 1, "startTime": START}) == []


@pytest.mark.parametrize(
    ("new", "old", "error"),
    [
        ({"active": 1, "ready": 2}, {}, "status.ready: Invalid value: 2: cannot set more ready pods than active"),
        ({"failed": 1}, {"failed": 2}, "status.failed: Invalid value: 1: cannot decrease the failed counter"),
        (
            {"startTime": END},
            {"startTime": START},
            f'status.startTime: Invalid value: "{END}": field is immutable for unsuspended job once set',
        ),
        (
            {"completedIndexes": "0"},
            {},
            'status.completedIndexes: Invalid value: "0": '
            "cannot set non-empty completedIndexes when non-indexed completion mode",
        ),
        (
            {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["a"]}},
            {},
            'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
        ),
        (
            {},
            {"conditions": conditions("FailureTarget")},
            "status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition",
        ),
    ],
)
def test_inconsistent_statuses_are_refused(new: dict[str, Any], old: dict[str, Any], error: str) -> None:
    assert told(new, old) == [error]


def test_a_job_does_not_end_before_it_begins() -> None:
    ended = {"conditions": conditions("SuccessCriteriaMet", "Complete"), "startTime": END, "completionTime": START}

    assert told(ended) == [f'status.completionTime: Invalid value: "{START}": must be equal to or after `startTime`']


def test_an_old_violation_does_not_block_other_status_updates() -> None:
    odd = {"completedIndexes": "9", "active": 1}

    assert told({**odd, "active": 2}, odd, completionMode="Indexed") == []


def test_the_same_index_cannot_have_failed_and_succeeded() -> None:
    new = {"completedIndexes": "0-2", "failedIndexes": "2"}

    assert told(new, completionMode="Indexed", backoffLimitPerIndex=1) == [
        'status.failedIndexes: Invalid value: "2": failedIndexes and completedIndexes overlap at index: 2'
    ]

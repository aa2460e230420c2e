"""Tests jobs and cron jobs: defaults and generated selectors."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.batch.cronjobs import CRONJOBS
from aio_apiserver.registry.groups.batch.jobs import JOBS
from tests.registry.defaulted import created, defaulted

UID, NAME = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"
GENERATED = {UID: "u-1", "controller-uid": "u-1", NAME: "a", "job-name": "a"}


def job(labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c"}]}}, **spec}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"completions": 1, "parallelism": 1}),
        ({"parallelism": 2}, {"parallelism": 2}),
        ({"completions": 3}, {"completions": 3, "parallelism": 1}),
        ({"backoffLimitPerIndex": 1}, {"backoffLimit": 2**31 - 1}),
        ({"podFailurePolicy": {"rules": []}}, {"podReplacementPolicy": "Failed"}),
    ],
)
def test_defaults_that_depend_on_others(given: dict[str, Any], expected: dict[str, Any]) -> None:
    spec = defaulted(JOBS, job(**given))["spec"]

    assert spec | expected == spec
    assert ("completions" in spec) == ("completions" in {**expected, **given} or "parallelism" not in given)


def test_other_defaults_of_jobs() -> None:
    spec = defaulted(JOBS, job())["spec"]

    del spec["template"]
    assert spec == {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "completions": 1,
        "manualSelector": False,
        "parallelism": 1,
        "podReplacementPolicy": "TerminatingOrFailed",
        "suspend": False,
    }


def test_a_job_selects_its_pods_by_its_uid() -> None:
    new = created(JOBS, job({"mine": "x"}))

    assert new["spec"]["selector"] == {"matchLabels": {UID: "u-1"}}
    assert new["spec"]["template"]["metadata"]["labels"] == {**GENERATED, "mine": "x"}
    assert new["metadata"]["labels"] == {**GENERATED, "mine": "x"}


def test_a_job_without_labels_gets_the_generated_labels() -> None:
    new = created(JOBS, job())

    JOBS.strategy.canonicalize(new)

    assert new["metadata"]["labels"] == GENERATED


def test_a_job_with_generate_name_keeps_its_labels() -> None:
    new = created(JOBS, {"metadata": {"generateName": "a-", "name": ""}, **job({"mine": "x"})})

    assert new["metadata"]["labels"] == {"mine": "x"}


def test_a_manual_selector_stays() -> None:
    new = created(JOBS, job({"a": "b"}, manualSelector=True, selector={"matchLabels": {"a": "b"}}))

    assert new["spec"]["selector"] == {"matchLabels": {"a": "b"}}
    assert new["metadata"]["labels"] == {"a": "b"}


def test_cron_jobs_default_the_history_limits_but_not_the_job_template() -> None:
    spec = defaulted(CRONJOBS, {"spec": {"schedule": "* * * * *", "jobTemplate": job()}})["spec"]

    template = spec.pop("jobTemplate")
    assert spec == {
        "schedule": "* * * * *",
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    }
    assert set(template["spec"]) == {"template"}
    assert template["spec"]["template"]["spec"]["restartPolicy"] == "Always"

"""Tests the validation of jobs and cron jobs."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.batch.cronjobs import CRONJOBS
from aio_apiserver.registry.groups.batch.jobs import JOBS
from tests.registry.defaulted import CONTEXT, created, updated

TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "nginx"}], "restartPolicy": "Never"}}


def job(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "namespace": "default"}, "spec": {"template": TEMPLATE, **spec}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"parallelism": -1}, ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"]),
        (
            {"template": {"spec": {"containers": TEMPLATE["spec"]["containers"]}}},
            ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
        ),
        (
            {"manualSelector": True},
            [
                "spec.selector: Required value",
                "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
            ],
        ),
    ],
)
def test_a_new_job(spec: dict[str, Any], expected: list[str]) -> None:
    assert [str(one) for one in JOBS.strategy.validate(CONTEXT, created(JOBS, job(**spec)))] == expected


def test_a_new_policy_without_rules_shows_null() -> None:
    old = created(JOBS, job())
    new = {**old, "spec": {**old["spec"], "podFailurePolicy": {}}}

    errors = JOBS.strategy.validate_update(CONTEXT, new, old)

    assert 'spec.podFailurePolicy: Invalid value: {"Rules":null}: field is immutable' in map(str, errors)


def test_the_completion_mode_is_immutable() -> None:
    old = created(JOBS, job(completions=2))
    new = {**old, "spec": {**old["spec"], "completionMode": "Indexed"}}

    errors = JOBS.strategy.validate_update(CONTEXT, new, old)

    assert [str(one) for one in errors] == ['spec.completionMode: Invalid value: "Indexed": field is immutable']


def test_cron_jobs_need_a_schedule_and_refuse_selectors() -> None:
    template = {"spec": {"template": TEMPLATE, "selector": {}, "manualSelector": True}}
    new = created(CRONJOBS, {"spec": {"jobTemplate": template}})

    assert [str(one) for one in CRONJOBS.strategy.validate(CONTEXT, new)] == [
        "spec.schedule: Required value",
        "spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated",
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ]


def test_a_valid_cron_job_is_accepted_on_create_and_update() -> None:
    value = {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}}
    new = created(CRONJOBS, value)

    assert CRONJOBS.strategy.validate(CONTEXT, new) == []
    assert CRONJOBS.strategy.validate_update(CONTEXT, updated(CRONJOBS, new, value), new) == []

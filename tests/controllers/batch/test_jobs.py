from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch import finished_jobs, indexes, job_reports
from aio_apiserver.controllers.batch import job_pods as jobs
from aio_apiserver.controllers.batch.job_indexes import INDEX
from aio_apiserver.controllers.batch.job_pods import TRACKING, Count
from tests.controllers.making import CLOCK, NOW, obj, pod, template


def _job(**spec: object) -> Object:
    made = obj("work", generation=1)
    return {**made, "spec": {"template": template(), "backoffLimit": 1, "completions": 1, "parallelism": 1, **spec}}


def _pod(name: str, phase: str = "Running", *, index: int | None = None) -> Object:
    annotations = {} if index is None else {INDEX: str(index)}
    return pod(name, phase=phase, finalizers=[TRACKING], annotations=annotations)


def _count(job: Object, *pods: Object) -> Count:
    return jobs.count(job, pods)


def test_pods_are_made_up_to_the_parallelism() -> None:
    job = _job(completions=5, parallelism=2)

    assert jobs.missing(_count(job)) == 2
    assert jobs.missing(_count(job, _pod("a"))) == 1
    assert jobs.missing(_count(job, _pod("a"), _pod("b"), _pod("c"))) == -1


def test_no_more_pods_are_made_than_are_to_succeed() -> None:
    job = _job(completions=3, parallelism=3)
    job["status"] = {"succeeded": 2}

    assert jobs.missing(_count(job)) == 1


def test_a_suspended_job_has_no_pods() -> None:
    assert jobs.missing(_count(_job(suspend=True), _pod("a"))) == -1


def test_a_finished_pod_is_counted_once() -> None:
    job, done = _job(), _pod("a", "Succeeded")
    job["status"] = {"uncountedTerminatedPods": {"succeeded": ["a"]}}

    found = _count(job, done)

    assert found.waiting == {"succeeded": ["a"], "failed": []}
    assert found.successes == 1


def test_a_job_ends_when_enough_pods_have_succeeded() -> None:
    job = _job()
    found = _count(job, _pod("a", "Succeeded"))
    end = jobs.outcome(found, now=CLOCK)
    before = job_reports.status(found, end, now=NOW, active=0)

    after = job_reports.settled(before, end, now=NOW)

    assert before["uncountedTerminatedPods"] == {"succeeded": ["a"]}
    assert [one["type"] for one in before["conditions"]] == ["SuccessCriteriaMet"]
    assert [one["type"] for one in after["conditions"]] == ["SuccessCriteriaMet", "Complete"]
    assert (after["succeeded"], after["completionTime"], after["uncountedTerminatedPods"]) == (1, NOW, {})


def test_a_job_fails_when_too_many_pods_have_failed() -> None:
    end = jobs.outcome(_count(_job(), _pod("a", "Failed"), _pod("b", "Failed")), now=CLOCK)

    assert end is not None
    assert (end.kind, end.reason) == ("Failed", "BackoffLimitExceeded")
    assert jobs.outcome(_count(_job(), _pod("a", "Failed")), now=CLOCK) is None


def test_a_job_fails_at_its_deadline() -> None:
    job = _job(activeDeadlineSeconds=30)
    job["status"] = {"startTime": "2026-01-01T00:00:00Z"}

    end = jobs.outcome(_count(job, _pod("a")), now=CLOCK)

    assert end is not None
    assert end.reason == "DeadlineExceeded"


def test_an_end_waits_for_pods_that_are_going() -> None:
    found = _count(_job(), _pod("a", "Succeeded"))
    found.ending = 1
    end = jobs.outcome(found, now=CLOCK)

    status = job_reports.settled(job_reports.status(found, end, now=NOW, active=0), end, now=NOW)

    assert "completionTime" not in status


def test_each_index_is_done_once() -> None:
    job = _job(completions=4, parallelism=3, completionMode="Indexed")
    job["status"] = {"completedIndexes": "0"}
    found = _count(job, _pod("a", "Succeeded", index=2), _pod("b", index=1))

    assert list(found.done_indexes) == [0, 2]
    assert jobs.free_indexes(found, 3, now=CLOCK) == [3]
    assert job_reports.status(found, None, now=NOW, active=1)["completedIndexes"] == "0,2"


def test_indexes_are_written_as_ranges() -> None:
    assert str(indexes.of({7, 1, 2, 3, 5})) == "1-3,5,7"
    assert list(indexes.parse("1-3,5,7")) == [1, 2, 3, 5, 7]


def test_the_pod_of_an_index_knows_it() -> None:
    made = jobs.pod_of(_job(completionMode="Indexed"), 3)

    assert made["metadata"]["annotations"][INDEX] == "3"
    assert made["metadata"]["finalizers"] == [TRACKING]
    assert made["spec"]["hostname"] == "work-3"
    assert made["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX"


def test_pods_are_made_again_later_after_each_failure() -> None:
    failed = _pod("a", "Failed")
    state = {"terminated": {"finishedAt": NOW}}
    failed["status"]["containerStatuses"] = [{"name": "a", "state": state}]

    assert jobs.pause(_count(_job(), failed), [failed], now=CLOCK) == 10.0
    assert jobs.pause(_count(_job(), failed), [failed], now=CLOCK + 11) == 0.0


def test_a_finished_job_goes_when_its_time_is_over() -> None:
    job = _job(ttlSecondsAfterFinished=90)
    assert finished_jobs.seconds_left(job, now=CLOCK) is None

    job["status"] = {"conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": NOW}]}

    assert finished_jobs.seconds_left(job, now=CLOCK + 30) == 60.0
    assert finished_jobs.seconds_left(job, now=CLOCK + 100) == 0.0


def _failed(code: int) -> Object:
    made = _pod("a", "Failed")
    made["status"]["containerStatuses"] = [{"name": "a", "state": {"terminated": {"exitCode": code}}}]
    return made


def test_a_failure_policy_ends_a_job_or_forgives() -> None:
    exit_codes = {"operator": "In", "values": [42]}
    rules = [
        {"action": "FailJob", "onExitCodes": exit_codes},
        {"action": "Ignore", "onExitCodes": {**exit_codes, "values": [1]}},
    ]
    job = _job(podFailurePolicy={"rules": rules})

    end = jobs.outcome(_count(job, _failed(42)), now=CLOCK)
    forgiven = _count(job, _failed(1))

    assert end is not None
    assert (end.reason, end.message) == (
        "PodFailurePolicy",
        "Container a for pod default/a failed with exit code 42 matching FailJob rule at index 0",
    )
    assert (forgiven.failures, len(forgiven.ignored)) == (0, 1)
    assert _count(job, _failed(3)).failures == 1


def test_a_success_policy_is_content_with_some_indexes() -> None:
    policy = {"rules": [{"succeededIndexes": "0-1"}, {"succeededCount": 3}]}
    job = _job(completions=9, completionMode="Indexed", successPolicy=policy)

    assert jobs.outcome(_count(job, _pod("a", "Succeeded", index=0)), now=CLOCK) is None

    job["status"] = {"completedIndexes": "4-6"}
    end = jobs.outcome(_count(job), now=CLOCK)

    assert end is not None
    assert (end.kind, end.reason, end.message) == ("Complete", "SuccessPolicy", "Matched rules at index 1")

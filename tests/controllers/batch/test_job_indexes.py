from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch import indexes, job_indexes, job_reports
from aio_apiserver.controllers.batch import job_pods as jobs
from aio_apiserver.controllers.batch.job_indexes import INDEX
from aio_apiserver.controllers.batch.job_pods import TRACKING
from tests.controllers.making import CLOCK, NOW, obj, pod, template

FAILURES = "batch.kubernetes.io/job-index-failure-count"
FAIL_INDEX = {"rules": [{"action": "FailIndex", "onPodConditions": [{"type": "Broken", "status": "True"}]}]}


def job(**spec: object) -> Object:
    usual = {"template": template(), "completionMode": "Indexed", "completions": 3, "parallelism": 3}
    return {**obj("work"), "spec": {**usual, "backoffLimit": 100, "backoffLimitPerIndex": 1, **spec}}


def tried(name: str, index: int, failures: int, phase: str = "Failed") -> Object:
    annotations = {INDEX: str(index), FAILURES: str(failures)}
    return pod(name, phase=phase, finalizers=[TRACKING], annotations=annotations)


def test_a_part_fails_with_its_last_try() -> None:
    found = jobs.count(job(), [tried("a", 0, 0), tried("b", 1, 1)])

    assert list(found.failed_indexes) == [1]
    assert jobs.missing(found) == 2
    assert jobs.free_indexes(found, 2, now=CLOCK) == [0, 2]
    assert jobs.outcome(found, now=CLOCK) is None


def test_the_next_try_knows_how_many_there_were() -> None:
    first, second = jobs.pod_of(job(), 0), jobs.pod_of(job(), 0, tried("a", 0, 0))

    assert [one["metadata"]["annotations"][FAILURES] for one in (first, second)] == ["0", "1"]


def test_a_try_waits_longer_each_time_and_for_its_own_part_only() -> None:
    ended = {"state": {"terminated": {"finishedAt": NOW}}}
    again = tried("a", 0, 1)
    again["status"]["containerStatuses"] = [ended]
    found = jobs.count(job(backoffLimitPerIndex=5), [again])

    assert job_indexes.pause(again, now=CLOCK + 1) == 19.0
    assert jobs.free_indexes(found, 3, now=CLOCK + 1) == [1, 2]


def test_a_rule_may_give_up_a_part_at_once() -> None:
    broken = tried("a", 0, 0)
    broken["status"]["conditions"] = [{"type": "Broken", "status": "True"}]

    assert list(jobs.count(job(podFailurePolicy=FAIL_INDEX), [broken]).failed_indexes) == [0]


def test_a_job_with_failed_parts_fails_when_the_others_are_done_or_too_many_have_failed() -> None:
    others = [tried("b", 1, 0, "Succeeded"), tried("c", 2, 0, "Succeeded")]
    done = jobs.outcome(jobs.count(job(), [tried("a", 0, 1), *others]), now=CLOCK)
    too_many = jobs.outcome(jobs.count(job(maxFailedIndexes=0), [tried("a", 0, 1)]), now=CLOCK)

    assert done is not None
    assert too_many is not None
    assert (done.kind, done.reason) == ("Failed", "FailedIndexes")
    assert (too_many.kind, too_many.reason) == ("Failed", "MaxFailedIndexesExceeded")


def test_the_status_names_the_failed_parts() -> None:
    found = jobs.count(job(), [tried("a", 0, 1)])

    assert job_reports.status(found, None, now=NOW, active=2)["failedIndexes"] == "0"


def test_two_numbers_in_a_row_are_no_range() -> None:
    assert str(indexes.of([0, 1, 3, 4, 5, 7])) == "0,1,3-5,7"


def test_a_job_of_two_billion_indexes_takes_no_more_memory_than_a_small_one() -> None:
    most = 2**31 - 1
    large = job(completions=most, parallelism=2, successPolicy={"rules": [{"succeededIndexes": f"0-{most - 2}"}]})
    large["status"] = {"completedIndexes": f"1-{most - 4},{most - 2}", "failedIndexes": "0"}

    found = jobs.count(large, [tried("a", most - 3, 0)])

    assert jobs.free_indexes(found, 2, now=CLOCK) == [most - 3, most - 1]
    assert jobs.pause(found, (), now=CLOCK) == 0.0
    assert found.successes == most - 3
    assert jobs.outcome(found, now=CLOCK) is None
    status = job_reports.status(found, None, now=NOW, active=0)
    assert status["completedIndexes"] == f"1-{most - 4},{most - 2}"
    assert job_reports.settled(status, None, now=NOW)["succeeded"] == most - 3


def test_runs_of_indexes_are_joined_and_compared() -> None:
    some = indexes.parse("8-9,1-3,2-5,7")

    assert str(some) == "1-5,7-9"
    assert [number in some for number in (0, 1, 5, 6, 7, 9, 10)] == [False, True, True, False, True, True, False]
    assert list(some.among(indexes.parse("0-1,4-8"))) == [1, 4, 5, 7, 8]
    assert list(some.others_below(12)) == [0, 6, 10, 11]
    assert list(some.others_below(2)) == [0]
    assert not some.below(0)

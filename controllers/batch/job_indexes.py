"""Job indexes: failures and retries of each index of a Job with backoffLimitPerIndex.

Pure. Each new pod of an index carries the count of earlier failures in its annotations. Must hold: a failed index stays
failed.
"""

from collections.abc import Iterable, Mapping, Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch import indexes, job_policies
from aio_apiserver.controllers.batch.indexes import Indexes
from aio_apiserver.controllers.runtime import pods

INDEX = "batch.kubernetes.io/job-completion-index"
_FAILURES = "batch.kubernetes.io/job-index-failure-count"
_IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"
_BACKOFF_SECONDS = 10.0
_LONGEST_BACKOFF_SECONDS = 600.0


def index_of(pod: Object) -> int | None:
    """The completion index of a pod."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isdigit() else None


def are_independent(job: Object) -> bool:
    """Whether each index has its own backoff limit."""
    return job["spec"].get("backoffLimitPerIndex") is not None


def failed(job: Object, failing: Iterable[Object]) -> Indexes:
    """The failed indexes, including those of pods that failed now."""
    if not are_independent(job):
        return Indexes()
    now = indexes.of(one for pod in failing if (one := index_of(pod)) is not None and _is_last_try(job, pod))
    before = indexes.parse((job.get("status") or {}).get("failedIndexes") or "")
    return before.with_all(now).below(job["spec"].get("completions") or 0)


def _is_last_try(job: Object, pod: Object) -> bool:
    action = job_policies.match(job, pod).action if pods.phase(pod) == "Failed" else "Count"
    if action == "FailIndex":
        return True
    return action == "Count" and _noted(pod, _FAILURES) >= int(job["spec"]["backoffLimitPerIndex"])


def last_tries(owned: Iterable[Object]) -> Mapping[int, Object]:
    """The newest failed pod of each index."""
    found: dict[int, Object] = {}
    for pod in owned:
        index = index_of(pod)
        if index is None or pods.phase(pod) != "Failed":
            continue
        if index not in found or _tries(pod) >= _tries(found[index]):
            found[index] = pod
    return found


def pause(pod: Object | None, *, now: float) -> float:
    """The seconds before an index is retried whose last pod is this one."""
    if pod is None:
        return 0.0
    wait = min(_BACKOFF_SECONDS * 2.0 ** min(_tries(pod), 16), _LONGEST_BACKOFF_SECONDS)
    return max(0.0, max(ends(pod), default=now - wait) + wait - now)


def ends(pod: Object) -> Sequence[float]:
    """The times at which the containers of a pod ended."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    ended = [((one.get("state") or {}).get("terminated") or {}).get("finishedAt") for one in statuses]
    return [pods.seconds(one) for one in ended if one]


def annotations(job: Object, before: Object | None) -> Mapping[str, str]:
    """The annotations of the next pod of an index."""
    if not are_independent(job):
        return {}
    failures, ignored = (_noted(before, name) if before is not None else 0 for name in (_FAILURES, _IGNORED))
    if before is not None:
        is_ignored = job_policies.is_ignored(job, before)
        failures, ignored = failures + (not is_ignored), ignored + is_ignored
    return {_FAILURES: str(failures), **({_IGNORED: str(ignored)} if ignored else {})}


def _tries(pod: Object) -> int:
    return _noted(pod, _FAILURES) + _noted(pod, _IGNORED)


def _noted(pod: Object, name: str) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(name, "")
    return int(text) if text.isdecimal() else 0

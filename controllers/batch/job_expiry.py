"""Job expiry: when the TTL of a finished job is over.

Pure.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import is_ending, seconds
from aio_apiserver.registry.base import conditions


def seconds_left(job: Object, *, now: float) -> float | None:
    """The seconds until a job is deleted; None for an unfinished job, or one without a TTL."""
    ttl = job["spec"].get("ttlSecondsAfterFinished")
    status = job.get("status") or {}
    ends = [conditions.find(status, kind) for kind in ("Complete", "Failed")]
    finished = [one for one in ends if one is not None and one["status"] == "True"]
    if ttl is None or not finished or is_ending(job):
        return None
    return max(0.0, seconds(finished[0]["lastTransitionTime"]) + float(ttl) - now)

"""How long a finished job is kept. Pure."""

from aio_apiserver.controllers.decisions.pods import is_ending, seconds
from aio_apiserver.registry.base import conditions
from aio_apiserver.storage.stored_object import Object


def seconds_left(job: Object, *, now: float) -> float | None:
    """Until a job has to go; None when it has not finished, or stays."""
    ttl = job["spec"].get("ttlSecondsAfterFinished")
    status = job.get("status") or {}
    ends = [conditions.find(status, kind) for kind in ("Complete", "Failed")]
    finished = [one for one in ends if one is not None and one["status"] == "True"]
    if ttl is None or not finished or is_ending(job):
        return None
    return max(0.0, seconds(finished[0]["lastTransitionTime"]) + float(ttl) - now)

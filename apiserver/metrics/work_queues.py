"""Work queues: metrics of the controllers' queues, computed when a client reads the metrics."""

from collections.abc import Iterable, Iterator, Mapping

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Stability
from aio_apiserver.controllers.runtime import queue_measures
from aio_apiserver.controllers.runtime.work_queue import WorkQueue

_NAME = ("name",)
_BETA = Stability.BETA


def families(queues: Mapping[str, WorkQueue]) -> Iterator[AnyFamily]:
    """All families, by the names of controllers."""
    yield from _counters(queues)
    yield from _gauges(queues)
    yield from _histograms(queues)


def _counters(queues: Mapping[str, WorkQueue]) -> Iterable[AnyFamily]:
    adds = metric_families.counter("workqueue_adds_total", "Keys that were added.", labels=_NAME, stability=_BETA)
    retries = metric_families.counter("workqueue_retries_total", "Keys that failed.", labels=_NAME, stability=_BETA)
    for name, queue in queues.items():
        adds.of(name).add(queue.measures.adds)
        retries.of(name).add(queue.measures.retries)
    return adds, retries


def _gauges(queues: Mapping[str, WorkQueue]) -> Iterable[AnyFamily]:
    depth = metric_families.gauge("workqueue_depth", "Keys that wait.", labels=_NAME, stability=_BETA)
    unfinished = metric_families.gauge(
        "workqueue_unfinished_work_seconds", "Seconds of work that is under way.", labels=_NAME, stability=_BETA
    )
    longest = metric_families.gauge(
        "workqueue_longest_running_processor_seconds",
        "Seconds of the work that is under way longest.",
        labels=_NAME,
        stability=_BETA,
    )
    for name, queue in queues.items():
        seconds = queue.measures.unfinished
        depth.of(name).set(len(queue))
        unfinished.of(name).set(sum(seconds))
        longest.of(name).set(max(seconds, default=0.0))
    return depth, unfinished, longest


def _histograms(queues: Mapping[str, WorkQueue]) -> Iterable[AnyFamily]:
    bounds = queue_measures.SECONDS
    waited = metric_families.histogram(
        "workqueue_queue_duration_seconds", "How long keys waited.", labels=_NAME, bounds=bounds, stability=_BETA
    )
    worked = metric_families.histogram(
        "workqueue_work_duration_seconds", "How long keys took.", labels=_NAME, bounds=bounds, stability=_BETA
    )
    for name, queue in queues.items():
        waited.of(name).add(queue.measures.waited)
        worked.of(name).add(queue.measures.worked)
    return waited, worked

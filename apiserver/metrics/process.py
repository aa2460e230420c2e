"""Process: the metrics of the Python process: memory, CPU time, open files, garbage collection.

prometheus_client is imported at the first request for them. Must hold: with several workers, each is what the workers
have together.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

import orjson

from aio_apiserver.apiserver.metrics import merging

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric


def text() -> str:
    """The metrics of this process, in Prometheus' text format."""
    from prometheus_client import generate_latest

    return generate_latest().decode()


def dump() -> bytes:
    """The metrics of this process for another worker."""
    from prometheus_client import REGISTRY

    return orjson.dumps(
        [
            (metric.name, metric.documentation, metric.type, [sample[:3] for sample in metric.samples])
            for metric in REGISTRY.collect()
        ]
    )


def merged_text(dumps: Iterable[bytes]) -> str:
    """The metrics of several processes, in Prometheus' text format."""
    from prometheus_client import generate_latest

    return generate_latest(cast("CollectorRegistry", _Merged(dumps))).decode()


class _Merged:
    """The metrics of some dumps, as prometheus_client collects them."""

    def __init__(self, dumps: Iterable[bytes]) -> None:
        self._dumps = tuple(dumps)

    def collect(self) -> "Iterator[Metric]":
        from prometheus_client import Metric

        metrics: dict[str, Metric] = {}
        values: dict[tuple[str, str, tuple[tuple[str, str], ...]], float] = {}
        for name, documentation, kind, samples in (plain for one in self._dumps for plain in orjson.loads(one)):
            metrics.setdefault(name, Metric(name, documentation, kind))
            combine = merging.of_gauge(name)
            for sample, labels, value in samples:
                place = name, sample, tuple(labels.items())
                values[place] = combine(values[place], value) if place in values else value
        for (name, sample, pairs), value in values.items():
            metrics[name].add_sample(sample, dict(pairs), value)
        yield from metrics.values()

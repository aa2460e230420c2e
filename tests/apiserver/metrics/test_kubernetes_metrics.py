"""The stable and beta metrics of kube-apiserver 1.36: names, types, stability, labels and buckets.

kubernetes_metrics.json has these facts of a kube-apiserver v1.36.4 after some use. Its numbers are those of `/metrics`.
"""

from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.apiserver.metrics import registry
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily
from aio_apiserver.base.measures import Histogram, Tally
from tests.apiserver.serving import running

KUBERNETES: dict[str, dict[str, Any]] = orjson.loads(Path(__file__).with_name("kubernetes_metrics.json").read_bytes())


def shape(family: AnyFamily) -> dict[str, Any]:
    tally: Tally[Any] = family.tally
    series = next(iter(tally.series.values()), None) or tally.of(*tally.labels)
    return {
        "type": family.kind.value,
        "stability": family.stability.value,
        "labels": sorted(family.labels),
        "buckets": list(series.bounds) if isinstance(series, Histogram) else [],
    }


async def test_each_stable_metric_is_that_of_kube_apiserver(tmp_path: Path) -> None:
    async with running(tmp_path, controllers=("namespace-controller",)) as server:
        monitoring = server.parts.monitoring
        found = [*monitoring.measures.families(), *monitoring.health.families()]
        published = {family.name: family for family in (*found, *registry.of(found))}
        shapes = {name: shape(published[name]) for name in KUBERNETES if name in published}

    assert shapes == KUBERNETES

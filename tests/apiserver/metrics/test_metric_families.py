"""The names of metrics, and the counts published under them."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from aio_apiserver.apiserver.metrics import (
    admission,
    allocation,
    authorization,
    flows,
    metric_families,
    storage,
)
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family, Measures
from aio_apiserver.base import measures
from aio_apiserver.base.measures import Tally
from aio_apiserver.registry.generic.admission.chain import AdmissionMetrics
from aio_apiserver.registry.groups.core.services.allocation.metrics import AllocationMetrics
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionMetrics
from aio_apiserver.registry.plugins.admission.webhook_metrics import WebhookMetrics
from aio_apiserver.registry.plugins.authorization.authorization_metrics import AuthorizationMetrics
from aio_apiserver.registry.plugins.flowcontrol.flow_metrics import FlowMetrics
from aio_apiserver.registry.plugins.podsecurity.metrics import PodSecurityMetrics
from aio_apiserver.storage.factory.measured_origin import Latencies
from aio_apiserver.storage.interface import ListResult, Resource


def test_families_are_made_when_a_client_reads_them() -> None:
    known = Measures()
    made: list[AnyFamily] = []

    def make() -> list[AnyFamily]:
        made.append(metric_families.gauge("now", "Now."))
        return made[-1:]

    known.ask(make)
    assert not made

    found = list(known.families())

    assert found == made


def test_what_is_counted_below_is_published_under_a_name() -> None:
    requests = measures.counters("code")

    family = Family("requests_total", "Requests.", requests)
    requests.of("200").add()

    assert (family.name, family.kind, family.labels) == ("requests_total", measures.MetricKind.COUNTER, ("code",))
    assert family.of("200").value == 1


@pytest.mark.parametrize(
    ("counts", "publish"),
    [
        (AdmissionMetrics, admission.of_chain),
        (WebhookMetrics, admission.of_webhooks),
        (ConditionMetrics, admission.of_conditions),
        (PodSecurityMetrics, admission.of_pod_security),
        (AllocationMetrics, allocation.families),
        (AuthorizationMetrics, authorization.families),
        (FlowMetrics, flows.families),
        (Latencies, storage.of_requests),
    ],
)
def test_each_count_has_one_name(counts: type, publish: Callable[[Any], Iterable[AnyFamily]]) -> None:
    counted = counts()
    tallies = [value for value in vars(counted).values() if isinstance(value, Tally)]

    families = list(publish(counted))

    assert len({family.name for family in families}) == len(tallies) == len(families)
    for number, tally in enumerate(tallies):
        tally.of(*(str(number) for _ in tally.labels))
    shown = {labels for family in families for labels in family.series}
    assert {tuple(str(number) for _ in tally.labels) for number, tally in enumerate(tallies)} <= shown


def test_lists_of_storage_have_the_names_of_etcd() -> None:
    latencies = Latencies()
    pods = Resource(group="", resource="pods", namespaced=True)

    requests, durations = latencies.of(pods, "list")
    requests.add()
    durations.observe(0.1)
    latencies.listed(pods, ListResult([], revision=1, fetched=3, examined=2))

    told = {family.name: list(family.series) for family in storage.of_requests(latencies) if family.series}
    values = {
        family.name: series.value
        for family in storage.of_requests(latencies)
        for series in family.series.values()
        if isinstance(series, measures.Counter)
    }
    assert told["etcd_request_duration_seconds"] == told["etcd_requests_total"] == [("", "list", "pods")]
    assert values["apiserver_storage_list_total"] == 1
    assert values["apiserver_storage_list_fetched_objects_total"] == 3
    assert values["apiserver_storage_list_evaluated_objects_total"] == 2


def test_addresses_and_ports_have_the_names_of_the_allocators() -> None:
    counted = AllocationMetrics()

    counted.addresses_counted("10.0.0.0/24", 2, 254)
    counted.ports_counted(1, 2768)

    values = {
        family.name.removeprefix("kube_apiserver_"): series.value
        for family in allocation.families(counted)
        for series in family.series.values()
        if isinstance(series, measures.Counter)
    }
    assert values["clusterip_allocator_allocated_ips"] == 2
    assert values["clusterip_allocator_available_ips"] == 252
    assert values["nodeport_allocator_allocated_ports"] == 1
    assert values["nodeport_allocator_available_ports"] == 2767

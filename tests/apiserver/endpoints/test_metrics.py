import gzip
from pathlib import Path

import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, running, trusting
from tests.paths import ROOT

DOCUMENTATION = ROOT / "docs" / "metrics.md"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
WRITER = {"Content-Type": "application/json"}


class Scraped:
    """The result of a scrape."""

    def __init__(self, answer: Answer) -> None:
        self.names = {line.split()[2] for line in answer.text.splitlines() if line.startswith("# TYPE ")}
        self.samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }

    def value(self, name: str, /, **labels: str) -> float:
        wanted = labels.items()
        return sum(value for (found, has), value in self.samples.items() if found == name and wanted <= has)


async def get(server: Server, target: str, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await ask(server.secure.port, target, tls=as_admin(server), headers=named)


async def test_requests_are_counted_by_what_they_were_about(tmp_path: Path) -> None:
    body = orjson.dumps({"metadata": {"name": "a"}})

    async with running(tmp_path) as server:
        path = "/api/v1/namespaces"
        await ask(server.secure.port, path, method="POST", tls=as_admin(server), headers=WRITER, body=body)
        await ask(
            server.secure.port, f"{path}?dryRun=All", method="POST", tls=as_admin(server), headers=WRITER, body=body
        )
        await get(server, f"{path}/a")
        await get(server, path)
        await get(server, "/apis/nobody.example.com/v1/nothing")
        await ask(server.secure.port, path, tls=trusting(server))
        found = Scraped(await get(server, "/metrics"))

    total = "apiserver_request_total"
    assert found.value(total, verb="POST", resource="namespaces", code="201", dry_run="") == 1
    assert found.value(total, verb="POST", resource="namespaces", code="409", dry_run="All") == 1
    assert found.value(total, verb="GET", resource="namespaces", scope="resource", code="200") == 1
    assert found.value(total, verb="LIST", resource="namespaces", scope="cluster", code="200") == 1
    assert found.value(total, resource="nothing") == 0
    assert found.value("apiserver_request_duration_seconds_count", verb="POST", resource="namespaces") == 2
    assert found.value("apiserver_request_sli_duration_seconds_count", verb="POST", resource="namespaces") == 1
    assert found.value("authentication_duration_seconds_count", result="success") >= 5


async def test_storage_and_versions_are_told(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await get(server, "/api/v1/configmaps")
        found = Scraped(await get(server, "/metrics"))

    assert found.value("kubernetes_build_info", git_version="v1.36.4") == 1
    assert ("watch_cache_capacity", frozenset({("group", ""), ("resource", "configmaps")})) in found.samples
    assert found.value("process_resident_memory_bytes") > 0


async def test_every_metric_is_documented(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        found = [Scraped(await get(server, path)).names for path in ("/metrics", "/metrics/slis")]

    documented = DOCUMENTATION.read_text()
    assert not [name for names in found for name in sorted(names) if f"`{name}`" not in documented]


@pytest.mark.parametrize("accept", ["text/html", "application/openmetrics-text;version=1.0.0", ""])
async def test_one_format_is_written_whatever_is_accepted(tmp_path: Path, accept: str) -> None:
    async with running(tmp_path) as server:
        answer = await get(server, "/metrics", Accept=accept)

    assert (answer.status, answer.headers["content-type"]) == (200, CONTENT_TYPE)


async def test_it_is_compressed_for_those_who_take_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        answer = await get(server, "/metrics", Accept_Encoding="gzip")

    assert answer.headers["content-encoding"] == "gzip"
    assert b"kubernetes_build_info" in gzip.decompress(answer.body)


async def test_deleting_begins_anew(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await get(server, "/api/v1/namespaces")
        answer = await ask(server.secure.port, "/metrics", method="DELETE", tls=as_admin(server))
        found = Scraped(await get(server, "/metrics"))

    assert answer.text == "metrics reset\n"
    assert found.value("apiserver_request_total", resource="namespaces") == 0


async def test_health_checks_are_counted(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await get(server, "/livez")
        found = Scraped(await get(server, "/metrics/slis"))

    assert found.value("kubernetes_healthcheck", name="ping", type="livez") == 1
    assert found.value("kubernetes_healthchecks_total", name="ping", type="livez", status="success") == 1


async def test_metrics_tell_of_lists_watches_and_themselves(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await get(server, "/apis", Accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
        found = Scraped(await get(server, "/metrics"))

    assert found.value("aggregator_discovery_aggregation_count_total") == 1
    fetched = found.value("apiserver_storage_list_fetched_objects_total")
    assert fetched == found.value("apiserver_storage_list_evaluated_objects_total") > 0
    assert found.value("registered_metrics_total", stability_level="STABLE") > 5
    assert found.value("hidden_metrics_total") == 0
    assert {"apiserver_init_events_total", "etcd_bookmark_total"} <= found.names

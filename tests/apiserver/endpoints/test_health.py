import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from aio_apiserver.apiserver.endpoints import health
from aio_apiserver.apiserver.endpoints.health import StartUp, StorageHealth
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.metrics.health import HealthMetrics
from aio_apiserver.apiserver.routing import Routes
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base.timeline import DEFAULT
from aio_apiserver.storage.health import Health
from tests.apiserver.serving import Answer, ask, listening

WELL = Health(healthy=True)
ILL = Health(healthy=False, reason="disk full")


@dataclass
class Storage:
    """A storage with the health that the test sets. It counts the checks."""

    answers: dict[str, Health] = field(default_factory=lambda: {"etcd": WELL})
    asked: int = 0
    gate: asyncio.Event | None = None

    async def health(self) -> Mapping[str, Health]:
        self.asked += 1
        if self.gate is not None:
            await self.gate.wait()
        return dict(self.answers)


class Checked:
    """The health endpoints of a server whose state the test sets."""

    def __init__(self, *names: str) -> None:
        self.clock = ManualClock()
        self.storage = Storage(dict.fromkeys(names or ("etcd",), WELL))
        self.start_up = StartUp(self.clock, grace=5.0)
        self.start_up.is_complete = True
        self.draining = Draining()
        self.health = StorageHealth(self.storage.health, list(self.storage.answers), self.clock)
        self.metrics = HealthMetrics()

    async def ask(self, target: str, method: str = "GET") -> Answer:
        checks = health.handlers(self.health, self.start_up, self.draining, self.metrics, DEFAULT)
        routes = Routes(exact=checks, prefixes={})
        async with listening(routes.dispatch, with_request_info, clock=self.clock) as listener:
            return await ask(listener.port, target, method=method)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/healthz?exclude=ping", "/livez?exclude=nope"])
async def test_a_server_that_is_well_says_ok(path: str) -> None:
    answer = await Checked().ask(path)

    assert (answer.status, answer.text) == (200, "ok")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_any_method_will_do(method: str) -> None:
    assert (await Checked().ask("/readyz", method)).text == "ok"


@pytest.mark.parametrize(
    "path",
    [
        "/healthz/ping",
        "/livez/etcd",
        "/livez/log",
        "/readyz/etcd-readiness",
        "/readyz/informer-sync",
        "/readyz/shutdown",
        "/healthz/poststarthook/rbac/bootstrap-roles",
        "/livez/ping?verbose",
    ],
)
async def test_checks_can_be_asked_one_by_one(path: str) -> None:
    answer = await Checked().ask(path)

    assert (answer.status, answer.text) == (200, "ok")
    assert "x-content-type-options" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/healthz/",
        "/healthz/nope",
        "/healthz/ping/",
        "/livez/informer-sync",
        "/livez/shutdown",
        "/readyz/poststarthook/x",
    ],
)
async def test_other_checks_do_not_exist(path: str) -> None:
    answer = await Checked().ask(path)

    assert (answer.status, answer.text) == (404, "404 page not found\n")


@pytest.mark.parametrize("query", ["verbose", "verbose=0", "verbose=true"])
async def test_verbose_lists_every_check(query: str) -> None:
    lines = (await Checked().ask(f"/readyz?{query}")).text.splitlines()

    assert lines[:5] == ["[+]ping ok", "[+]log ok", "[+]etcd ok", "[+]etcd-readiness ok", "[+]informer-sync ok"]
    assert lines[-2:] == ["[+]shutdown ok", "readyz check passed"]


async def test_liveness_has_checks_of_its_own() -> None:
    lines = (await Checked().ask("/livez?verbose")).text.splitlines()

    assert lines[:4] == ["[+]ping ok", "[+]log ok", "[+]loopback-serving-certificate ok", "[+]etcd ok"]
    assert "[+]shutdown ok" not in lines


async def test_excluded_checks_are_not_asked() -> None:
    checked = Checked()
    checked.storage.answers["etcd"] = ILL

    answer = await checked.ask("/livez?verbose&exclude=etcd&exclude=log&exclude=nope,x")

    assert answer.status == 200
    assert "[+]etcd excluded: ok\n" in answer.text
    assert "[+]log excluded: ok\n" in answer.text
    assert answer.text.endswith(
        'warn: some health checks cannot be excluded: no matches for "nope,x"\nlivez check passed\n'
    )
    assert checked.storage.asked == 0


async def test_excluding_etcd_excludes_its_overrides() -> None:
    checked = Checked("etcd", "etcd-override-0")
    checked.storage.answers["etcd-override-0"] = ILL

    answer = await checked.ask("/livez?verbose&exclude=etcd")

    assert answer.status == 200
    assert "[+]etcd-override-0 excluded with etcd: ok\n" in answer.text


async def test_what_fails_is_named_and_why_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    checked = Checked()
    checked.storage.answers["etcd"] = ILL

    answer = await checked.ask("/readyz")

    assert answer.status == 500
    assert answer.text.startswith("[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n")
    assert answer.text.endswith("readyz check failed\n")
    assert "disk full" not in answer.text
    assert "disk full" in caplog.text


async def test_a_single_check_tells_why() -> None:
    checked = Checked()
    checked.storage.answers["etcd"] = ILL

    answer = await checked.ask("/livez/etcd")

    assert (answer.status, answer.text) == (500, "internal server error: disk full\n")


async def test_a_server_that_starts_is_not_ready() -> None:
    checked = Checked()
    checked.start_up.is_complete = False

    answer = await checked.ask("/readyz")

    assert answer.status == 500
    assert "[-]poststarthook/rbac/bootstrap-roles failed: reason withheld\n" in answer.text


async def test_livez_waits_for_the_start_after_the_grace_period_alone() -> None:
    checked = Checked()
    checked.start_up.is_complete = False

    early = [(await checked.ask(path)).status for path in ("/livez", "/healthz", "/readyz")]
    checked.clock.advance(5.0)
    late = await checked.ask("/livez")

    assert early == [200, 500, 500]
    assert late.status == 500
    assert "[-]poststarthook/rbac/bootstrap-roles failed: reason withheld\n" in late.text


async def test_a_server_that_stops_is_alive_and_not_ready() -> None:
    checked = Checked()
    checked.draining.announce()

    live, ready = await checked.ask("/livez"), await checked.ask("/readyz")

    assert (live.status, ready.status) == (200, 500)
    assert "[-]shutdown failed: reason withheld\n" in ready.text


async def test_a_good_answer_counts_for_a_second() -> None:
    checked = Checked()

    await checked.ask("/readyz")
    checked.storage.answers["etcd"] = ILL
    checked.clock.advance(0.9)
    within = await checked.ask("/readyz")
    checked.clock.advance(0.2)
    later = await checked.ask("/readyz")

    assert (within.status, later.status) == (200, 500)
    assert checked.storage.asked == 2


async def test_all_who_wait_share_one_answer() -> None:
    checked = Checked()
    checked.storage.answers["etcd"] = ILL
    checked.storage.gate = asyncio.Event()

    asking = [asyncio.create_task(checked.health.problems()) for _ in range(10)]
    await asyncio.sleep(0)
    checked.storage.gate.set()
    answers = await asyncio.gather(*asking)

    assert answers == [{"etcd": "disk full"}] * 10
    assert checked.storage.asked == 1


FULL = Health(healthy=True, reason="memberID:1 alarm:NOSPACE ")
STRANGER = Health(
    healthy=False, reason="http://10.0.0.1:2379: the server does not speak HTTP/2: a frame of 3940676 bytes"
)


async def test_a_full_etcd_is_ready_for_reads_and_says_that_it_is_full() -> None:
    checked = Checked()
    checked.storage.answers["etcd"] = FULL

    summary, verbose, live = [await checked.ask(path) for path in ("/readyz", "/readyz?verbose", "/livez")]

    assert (summary.status, summary.text, live.status) == (200, "ok", 200)
    assert "[+]etcd ok\n" in verbose.text
    assert "warn: etcd: the database is full (NOSPACE)" in verbose.text


async def test_a_failure_with_a_known_cause_names_the_flag_and_no_address() -> None:
    checked = Checked()
    checked.storage.answers["etcd"] = STRANGER

    answer = await checked.ask("/readyz")

    assert "warn: etcd: --etcd-servers names a server that is no etcd\n" in answer.text
    assert "10.0.0.1" not in answer.text


async def test_checks_with_the_same_reason_are_logged_together(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger=health.__name__)
    checked = Checked()
    checked.storage.answers["etcd"] = Health(healthy=False, reason="disk full")
    checked.start_up.is_complete = False

    await checked.ask("/readyz")

    [line] = [record.getMessage() for record in caplog.records]
    assert line == "readyz check failed: etcd, etcd-readiness: disk full; 31 checks: not finished"


async def test_a_failure_is_logged_with_address_and_flag_at_most_every_ten_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger=health.__name__)
    checked = Checked()
    checked.storage.answers["etcd"] = STRANGER
    handlers = health.handlers(checked.health, checked.start_up, checked.draining, checked.metrics, DEFAULT)
    routes = Routes(exact=handlers, prefixes={})

    async with listening(routes.dispatch, with_request_info, clock=checked.clock) as listener:
        for _ in range(21):
            await ask(listener.port, "/readyz")
            checked.clock.advance(1.0)

    lines = [record.getMessage() for record in caplog.records if "readyz check failed" in record.getMessage()]
    assert len(lines) == 3
    assert "http://10.0.0.1:2379" in lines[0]
    assert "--etcd-servers" in lines[0]

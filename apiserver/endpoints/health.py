"""Health: /healthz, /livez and /readyz, each with its named checks, together and one by one.

Must hold: a summary names failed checks and the cause where it is known. The whole reason, with addresses, is in the
log and at the path of the single check. A check that keeps failing is logged every ten seconds at most.
`exclude` skips a check, `verbose` lists all. The storage has at most one health check at a time; a good result counts
for one second.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from functools import partial

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.apiserver.endpoints.storage_causes import cause_of, explained
from aio_apiserver.apiserver.metrics.health import HealthMetrics
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import ALWAYS, Version
from aio_apiserver.storage.health import Health

logger = logging.getLogger(__name__)

Probe = Callable[[], Awaitable[str]]
"""Returns the problem; empty when there is none."""

_GOOD_SECONDS = 1.0
_BAD_SECONDS = 0.05
_LOG_SECONDS = 10.0
"""Seconds for which a good or a bad result of the storage counts."""
_MOST_NAMED = 3
"""A log line counts more failed checks with the same reason: those of the start are thirty."""
_START_UP = (
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
)
"""kube-apiserver's names for the steps of its start, which monitoring expects. Here they all succeed at the same time.
"""

_SINCE: Mapping[str, Version] = {
    "loopback-serving-certificate": (1, 36),
    "poststarthook/peer-endpoint-reconciler-controller": (1, 36),
    "poststarthook/storage-readiness": (1, 36),
}
"""The first minors of the checks that older ones do not have."""


class Check(Struct, frozen=True):
    """A named check. `exclude` with the name of a group skips all checks of the group."""

    name: str
    probe: Probe
    group: str = ""


class StartUp:
    """Whether the steps before readiness are complete. grace: how many seconds /livez does not wait for them."""

    def __init__(self, clock: Clock, *, grace: float = 0.0) -> None:
        self.is_complete = False
        self._clock = clock
        self._grace_ends = clock.monotonic() + grace

    async def probe(self) -> str:
        return "" if self.is_complete else "not finished"

    async def probe_of_livez(self) -> str:
        return "" if self._clock.monotonic() < self._grace_ends else await self.probe()


class StorageHealth:
    """Checks the health of all storages, one call at a time. Waiting requests share the result."""

    def __init__(self, ask: Callable[[], Awaitable[Mapping[str, Health]]], names: Sequence[str], clock: Clock) -> None:
        self._ask = ask
        self._names = names
        self.clock = clock
        self._problems: Mapping[str, str] = {}
        self._warnings: Mapping[str, str] = {}
        self._fresh_until = float("-inf")
        self._asking = asyncio.Lock()

    def checks(self, suffix: str = "") -> list[Check]:
        """One check for each storage."""
        return [Check(f"{name}{suffix}", partial(self._probe, name), group=f"etcd{suffix}") for name in self._names]

    async def problems(self) -> Mapping[str, str]:
        """The problems by storage; empty when all are healthy."""
        if self.clock.monotonic() < self._fresh_until:
            return self._problems
        async with self._asking:
            if self.clock.monotonic() >= self._fresh_until:
                answers = await self._ask()
                self._problems = {
                    name: explained(health.reason) for name, health in answers.items() if not health.healthy
                }
                self._warnings = {name: explained(h.reason) for name, h in answers.items() if h.healthy and h.reason}
                seconds = _BAD_SECONDS if self._problems else _GOOD_SECONDS
                self._fresh_until = self.clock.monotonic() + seconds
        return self._problems

    @property
    def warnings(self) -> Mapping[str, str]:
        """What the last check has found in storages that can be used: a full etcd still reads and deletes."""
        return self._warnings

    def causes(self) -> Mapping[str, str]:
        """The known causes by storage, of the last problems and warnings."""
        found = {name: cause_of(reason) for name, reason in {**self._warnings, **self._problems}.items()}
        return {name: cause for name, cause in found.items() if cause}

    async def _probe(self, name: str) -> str:
        return (await self.problems()).get(name, "")


def handlers(
    storage: StorageHealth,
    start_up: StartUp,
    draining: Draining,
    metrics: HealthMetrics,
    version: Version,
    of_readiness: Sequence[Check] = (),
) -> Mapping[str, Handler]:
    """The three endpoints and their single checks, by path. of_readiness: more checks of /readyz."""

    async def is_staying() -> str:
        return "process is shutting down" if draining.is_announced else ""

    ping, log = Check("ping", _is_well), Check("log", _is_well)
    certificate = Check("loopback-serving-certificate", _is_well)
    informers, shutdown = Check("informer-sync", start_up.probe), Check("shutdown", is_staying)
    names = [name for name in _START_UP if _SINCE.get(name, ALWAYS) <= version]
    steps = [Check(name, start_up.probe) for name in names]
    steps_of_livez = [Check(name, start_up.probe_of_livez) for name in names]
    own = [certificate] if _SINCE[certificate.name] <= version else []
    lasting = [ping, log, *own, *storage.checks()]
    ready = [ping, log, *storage.checks(), *storage.checks("-readiness"), informers, *steps, *of_readiness, shutdown]
    endpoints = {"healthz": [*lasting, *steps], "livez": [*lasting, *steps_of_livez], "readyz": ready}
    return {
        path: handler
        for name, checks in endpoints.items()
        for path, handler in _endpoint(name, [_recorded(check, name, metrics) for check in checks], storage).items()
    }


def _recorded(check: Check, endpoint: str, metrics: HealthMetrics) -> Check:
    """The check with its results counted in the metrics."""

    async def probe() -> str:
        problem = await check.probe()
        metrics.checked(check.name, endpoint, is_well=not problem)
        return problem

    return replace(check, probe=probe)


async def _is_well() -> str:
    return ""


class _FailureLog:
    """The log lines of one endpoint."""

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._logged: Set[str] = frozenset()
        self._quiet_until = float("-inf")

    def note(self, failed: Mapping[str, str], warnings: Mapping[str, str]) -> None:
        """Log failed checks and warnings: new ones at once, the same ones again after a pause."""
        named, now = failed.keys() | warnings.keys(), self._clock.monotonic()
        if not named or (named == self._logged and now < self._quiet_until):
            return
        self._logged, self._quiet_until = named, now + _LOG_SECONDS
        if failed:
            logger.info("%s check failed: %s", self._name, _by_reason(failed))
        else:
            logger.warning("%s check passed with warnings: %s", self._name, warnings)


def _by_reason(failed: Mapping[str, str]) -> str:
    """The failed checks with their reasons. Checks with the same reason stand together, and many are counted."""
    checks: dict[str, list[str]] = {}
    for check, reason in failed.items():
        checks.setdefault(reason, []).append(check)
    return "; ".join(f"{_named(names)}: {reason}" for reason, names in checks.items())


def _named(checks: Sequence[str]) -> str:
    return ", ".join(checks) if len(checks) <= _MOST_NAMED else f"{len(checks)} checks"


def _endpoint(name: str, checks: Sequence[Check], storage: StorageHealth) -> dict[str, Handler]:
    single = {f"/{name}/{check.name}": _single(check) for check in checks}
    return {f"/{name}": _all(name, checks, storage), **single}


def _single(check: Check) -> Handler:
    async def answer(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        problem = await check.probe()
        if problem:
            return responses.text(context, f"internal server error: {problem}\n", status=500)
        return responses.raw(context, b"ok", content_type=responses.TEXT)

    return answer


def _all(name: str, checks: Sequence[Check], storage: StorageHealth) -> Handler:
    log = _FailureLog(name, storage.clock)

    async def answer(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        excluded = set(context.query.get("exclude", ()))
        requested = [check for check in checks if not {check.name, check.group} & excluded]
        problems = {check.name: await check.probe() for check in requested}
        failed = {check: problem for check, problem in problems.items() if problem}
        log.note(failed, storage.warnings)
        if not failed and "verbose" not in context.query:
            return responses.text(context, "ok")
        lines = [_line(check, excluded, problems) for check in checks]
        unknown = sorted(excluded - {name for check in checks for name in (check.name, check.group)})
        if unknown:
            names = ",".join(map(quote, unknown))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
        lines += [f"warn: {check}: {cause}\n" for check, cause in storage.causes().items()]
        verdict = f"{name} check {'failed' if failed else 'passed'}\n"
        return responses.text(context, "".join(lines) + verdict, status=500 if failed else 200)

    return answer


def _line(check: Check, excluded: Set[str], problems: Mapping[str, str]) -> str:
    if check.name in excluded:
        return f"[+]{check.name} excluded: ok\n"
    if check.group in excluded:
        return f"[+]{check.name} excluded with {check.group}: ok\n"
    return f"[-]{check.name} failed: reason withheld\n" if problems[check.name] else f"[+]{check.name} ok\n"

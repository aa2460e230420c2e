"""/healthz, /livez and /readyz: each a list of named checks, as a whole and one by one.

Must hold: what fails is named to everybody, and why it failed only in the log and to those who may read the single
check; `exclude` leaves out, `verbose` lists; a storage that answers well is asked once a second at the most.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from aiohttp import web

from apiserver import responses
from apiserver.context import Handler, RequestContext
from apiserver.draining import Draining
from registry.quoting import quote
from storage.clock import Clock
from storage.kv.interface import Health

logger = logging.getLogger(__name__)

Probe = Callable[[], Awaitable[str]]
"""What is wrong, for people; empty when nothing is."""

_STORAGE_SECONDS = 1.0
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
"""kube-apiserver's names for the steps of its start, which monitoring asks for; here they succeed together."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that can be well or not."""

    name: str
    probe: Probe


class StartUp:
    """Whether the start is complete: what runs once before the server calls itself ready."""

    def __init__(self) -> None:
        self.is_complete = False

    async def probe(self) -> str:
        return "" if self.is_complete else "not finished"


class StorageProbe:
    """Asks the storage for its health; a good answer counts for a second, a bad one only once."""

    def __init__(self, ask: Callable[[], Awaitable[Health]], clock: Clock) -> None:
        self._ask = ask
        self._clock = clock
        self._good_until = float("-inf")

    async def probe(self) -> str:
        if self._clock.monotonic() < self._good_until:
            return ""
        health = await self._ask()
        if health.healthy:
            self._good_until = self._clock.monotonic() + _STORAGE_SECONDS
        return "" if health.healthy else health.reason


def handlers(storage: StorageProbe, start_up: StartUp, draining: Draining) -> Mapping[str, Handler]:
    """The three endpoints and all their single checks, by path."""

    async def is_staying() -> str:
        return "process is shutting down" if draining.is_announced else ""

    ping, log = Check("ping", _is_well), Check("log", _is_well)
    certificate = Check("loopback-serving-certificate", _is_well)
    etcd, etcd_readiness = Check("etcd", storage.probe), Check("etcd-readiness", storage.probe)
    informers, shutdown = Check("informer-sync", start_up.probe), Check("shutdown", is_staying)
    steps = [Check(name, start_up.probe) for name in _START_UP]
    live = [ping, log, certificate, etcd, *steps]
    ready = [ping, log, etcd, etcd_readiness, informers, *steps, shutdown]
    return {**_endpoint("healthz", live), **_endpoint("livez", live), **_endpoint("readyz", ready)}


async def _is_well() -> str:
    return ""


def _endpoint(name: str, checks: Sequence[Check]) -> dict[str, Handler]:
    single = {f"/{name}/{check.name}": _single(check) for check in checks}
    return {f"/{name}": _all(name, checks), **single}


def _single(check: Check) -> Handler:
    async def answer(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        problem = await check.probe()
        if problem:
            return responses.text(context, f"internal server error: {problem}\n", status=500)
        return responses.raw(context, b"ok", content_type=responses.TEXT)

    return answer


def _all(name: str, checks: Sequence[Check]) -> Handler:
    async def answer(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        excluded = set(context.query.get("exclude", ()))
        problems = {check.name: await check.probe() for check in checks if check.name not in excluded}
        failed = {check: problem for check, problem in problems.items() if problem}
        if not failed and "verbose" not in context.query:
            return responses.text(context, "ok")
        lines = [_line(check.name, problems.get(check.name)) for check in checks]
        unknown = sorted(excluded - {check.name for check in checks})
        if unknown:
            names = ",".join(map(quote, unknown))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
        if failed:
            logger.info("%s check failed: %s", name, failed)
        verdict = f"{name} check {'failed' if failed else 'passed'}\n"
        return responses.text(context, "".join(lines) + verdict, status=500 if failed else 200)

    return answer


def _line(check: str, problem: str | None) -> str:
    if problem is None:
        return f"[+]{check} excluded: ok\n"
    return f"[-]{check} failed: reason withheld\n" if problem else f"[+]{check} ok\n"

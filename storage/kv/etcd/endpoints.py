"""Endpoints: the members of the etcd cluster, and the choice of the member for the next request.

Requests go to the members that are up, in turn. A member that could not serve gets no requests, and is probed in the
background. It is up again when it answers, has a leader and is no learner. Knows no keys and repeats no requests.

Must hold: no request goes to a member that is down while another one is up. A member that is down is probed until it is
up or the engine is closed.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import Closed, Unauthenticated, Unavailable
from aio_apiserver.storage.etcd_config import EtcdConfig
from aio_apiserver.storage.kv.etcd import failures, versions
from aio_apiserver.storage.kv.etcd.channel import Credentials
from aio_apiserver.storage.kv.etcd.endpoint import Endpoint
from aio_apiserver.storage.kv.etcd.failures import Effect
from aio_apiserver.storage.kv.etcd.grpc_status import Code, RpcFailed
from aio_apiserver.storage.kv.etcd.revision import RevisionSeen
from aio_apiserver.storage.kv.etcd.token import Token

logger = logging.getLogger(__name__)

_LOG_SECONDS = 10.0
"""The least time between two log lines about members that are left: a member may fail several times a second."""

_PROBE_SECONDS = 2.0
"""How long a member may take to answer with its status; a healthy one takes milliseconds."""
_FIRST_PAUSE = 0.02
_LAST_PAUSE = 1.0
"""Seconds between probes of a member that is down."""


class Endpoints:
    """All members of one cluster. Needs a running event loop."""

    def __init__(self, config: EtcdConfig, token: Token, seen: RevisionSeen, clock: Clock) -> None:
        self._token = token
        self._seen = seen
        self._clock = clock
        credentials = Credentials(config.tls)
        self._all = [Endpoint(url, config, credentials) for url in config.endpoints]
        self._up = list(self._all)
        self._turn = 0
        self._any_up = asyncio.Event()
        self._any_up.set()
        self._is_closed = False
        self._tasks = Tasks()
        self._probed: set[Endpoint] = set()
        self._logged: set[Endpoint] = set()
        """The members of which the log says that they are left."""
        self._quiet_until = float("-inf")
        self._unlogged = 0
        for endpoint in self._all:
            self._start_probe(endpoint)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def has_reliable_progress(self) -> bool:
        """Whether all members that are up are known to answer progress requests correctly."""
        return bool(self._up) and all(endpoint.has_reliable_progress for endpoint in self._up)

    def pick(self) -> Endpoint | None:
        """The next member in turn; None when none is up."""
        if not self._up:
            return None
        self._turn += 1
        return self._up[self._turn % len(self._up)]

    async def wait_until_up(self, seconds: float) -> Endpoint:
        """The next member in turn, as soon as one is up. Raises Unavailable, and Closed."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self._any_up.wait()
                    if self._is_closed:
                        raise Closed("the engine was closed")
                    endpoint = self.pick()
                    if endpoint is not None:
                        return endpoint
        except TimeoutError:
            raise Unavailable(f"no etcd endpoint can be used: {self.reasons}") from None

    def leave(self, endpoint: Endpoint, reason: str) -> None:
        """Send no more requests to a member until a probe finds it healthy."""
        if endpoint in self._up:
            self._log_leaving(endpoint, reason)
            self._up.remove(endpoint)
            if not self._up:
                self._any_up.clear()
        endpoint.reason = reason
        self._start_probe(endpoint)

    @property
    def reasons(self) -> str:
        """Why members are down, for log lines and errors."""
        reasons = [f"{endpoint.url}: {endpoint.reason}" for endpoint in self._all if endpoint.reason]
        return "; ".join(reasons) or "no answer in time"

    def statistics(self) -> Mapping[str, Any]:
        """The members that are up and those that are down, by URL."""
        return {
            "up": [endpoint.url for endpoint in self._up],
            "down": {endpoint.url: endpoint.reason for endpoint in self._all if endpoint not in self._up},
        }

    async def close(self) -> None:
        """Disconnect from all members; callers that wait for a member get Closed."""
        self._is_closed = True
        self._up.clear()
        self._any_up.set()
        await self._tasks.close()
        await asyncio.gather(*[endpoint.close() for endpoint in self._all])

    def _log_leaving(self, endpoint: Endpoint, reason: str) -> None:
        """Log that a member is left; at most one line in ten seconds, which counts those left out."""
        now = self._clock.monotonic()
        if now < self._quiet_until:
            self._unlogged += 1
            return
        more = f" (left {self._unlogged} times since the last line)" if self._unlogged else ""
        logger.warning("etcd endpoint %s is left: %s%s", endpoint.url, reason, more)
        self._logged.add(endpoint)
        self._quiet_until, self._unlogged = now + _LOG_SECONDS, 0

    def _start_probe(self, endpoint: Endpoint) -> None:
        if endpoint not in self._probed and not self._is_closed:
            self._probed.add(endpoint)
            self._tasks.spawn(self._probe(endpoint), name=f"probe of etcd endpoint {endpoint.url}")

    async def _probe(self, endpoint: Endpoint) -> None:
        """Request a member's status until it is healthy; then it is up."""
        pause = _FIRST_PAUSE
        while (reason := await self._find_fault(endpoint)) is not None:
            self.leave(endpoint, reason)
            endpoint.cancel_streams()
            await self._clock.sleep(pause)
            pause = min(pause * 2, _LAST_PAUSE)
        self._probed.discard(endpoint)
        if endpoint not in self._up:
            self._up.append(endpoint)
            if endpoint in self._logged:
                self._logged.discard(endpoint)
                logger.info("etcd endpoint %s is up", endpoint.url)
        endpoint.reason = ""
        self._any_up.set()

    async def _find_fault(self, endpoint: Endpoint) -> str | None:
        """Why a member cannot serve; None when it can, even if it only refuses our credentials."""
        try:
            status = await self._status(endpoint)
        except Unauthenticated:
            return None
        except failures.GRPC_EXCEPTIONS as error:
            failure = failures.of_exception(error)
            if failure.effect is not Effect.REFUSED:
                return str(failure.error)
            if isinstance(error, RpcFailed) and error.code is Code.PERMISSION_DENIED:
                endpoint.version = versions.SECRETIVE
            return None
        endpoint.version = versions.parse(status.version)
        self._seen.note(status.header.revision)
        return "it is a learner" if status.isLearner else None

    async def _status(self, endpoint: Endpoint) -> rpc.StatusResponse:
        request, metadata = rpc.StatusRequest(), self._token.metadata
        try:
            return await endpoint.calls.status(request, timeout=_PROBE_SECONDS, metadata=metadata)
        except RpcFailed as error:
            if failures.of_exception(error).effect is not Effect.RENEW:
                raise
        await self._token.renew(endpoint, metadata, seconds=_PROBE_SECONDS)
        return await endpoint.calls.status(request, timeout=_PROBE_SECONDS, metadata=self._token.metadata)

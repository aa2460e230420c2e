"""Election: leader election among servers on one storage, with a Lease, as in kube-controller-manager.

Must hold: a leader that cannot renew stops before another server may begin. A leader that stops gracefully releases the
lease at once. A lease is valid for its duration from the moment at which this server saw its renewal; the holder's
clock does not count.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.places import LEASES
from aio_apiserver.registry.base import errors
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.stored_object import Object

logger = logging.getLogger(__name__)

NAMESPACE = "kube-system"
_LEASE_SECONDS = 15
_RENEW_SECONDS = 10.0
_PAUSE_SECONDS = 2.0


class Election:
    """The part of one server in an election."""

    def __init__(self, client: ControllerClient, clock: Clock, *, name: str, identity: str) -> None:
        self._client = client
        self._clock = clock
        self._patience = clock.patience
        self._name = name
        self._identity = identity
        self._seen: tuple[str, str] = ("", "")
        """The holder and renewal time of the lease as last seen."""
        self._seen_at = 0.0
        self._renewed_at = 0.0
        self.has_tried = False
        """Whether the leader is known."""

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Call `lead` while this server holds the lease, until cancelled."""
        while True:
            while not await self._try():
                await self._patience.sleep(_PAUSE_SECONDS)
            logger.info("%s became leader of the lease %s", self._identity, self._name)
            try:
                await self._lead(lead)
            finally:
                await self._let_go()

    async def _lead(self, lead: Callable[[], Awaitable[None]]) -> None:
        leading = asyncio.ensure_future(lead())
        try:
            while self._patience.monotonic() - self._renewed_at < _RENEW_SECONDS and not leading.done():
                await self._patience.sleep(_PAUSE_SECONDS)
                await self._try()
        finally:
            leading.cancel()
            (outcome,) = await asyncio.gather(leading, return_exceptions=True)
            failure = outcome if isinstance(outcome, Exception) else None
            logger.log(
                logging.ERROR if failure else logging.INFO,
                "%s no longer leads the lease %s",
                self._identity,
                self._name,
                exc_info=failure,
            )

    async def _try(self) -> bool:
        """Acquire or renew the lease. Returns whether this server holds it."""
        sent_at = self._patience.monotonic()
        try:
            holds = await self._take()
        except (errors.StatusError, StorageError) as exc:
            logger.info("cannot acquire or renew the lease %s, retrying: %s", self._name, exc)
            return False
        self.has_tried = True
        if holds:
            self._renewed_at = sent_at
        return holds

    async def _take(self) -> bool:
        lease = await self._client.get(LEASES, f"{NAMESPACE}/{self._name}")
        if lease is None:
            made = {"metadata": {"name": self._name}, "spec": self._held(0)}
            await self._client.create(LEASES, made, namespace=NAMESPACE)
            return True
        if not self._may_take(lease):
            return False
        written = await self._client.change(LEASES, lease, self._mark)
        return written is not None and written["spec"].get("holderIdentity") == self._identity

    def _mark(self, lease: Object) -> bool:
        if not self._may_take(lease):
            return False
        spec = lease.get("spec") or {}
        turns = int(spec.get("leaseTransitions") or 0)
        if spec.get("holderIdentity") == self._identity:
            lease["spec"] = {**self._held(turns), "acquireTime": spec["acquireTime"]}
        else:
            lease["spec"] = self._held(turns + 1)
        return True

    def _may_take(self, lease: Object) -> bool:
        spec = lease.get("spec") or {}
        holder = spec.get("holderIdentity") or ""
        if holder in ("", self._identity):
            return True
        seen = holder, str(spec.get("renewTime"))
        if seen != self._seen:
            self._seen, self._seen_at = seen, self._patience.monotonic()
        return self._patience.monotonic() - self._seen_at > (spec.get("leaseDurationSeconds") or _LEASE_SECONDS)

    def _held(self, turns: int) -> Object:
        now = datetime.fromtimestamp(self._clock.now(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": _LEASE_SECONDS,
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": turns,
        }

    async def _let_go(self) -> None:
        """Release the lease if this server holds it."""
        try:
            lease = await self._client.get(LEASES, f"{NAMESPACE}/{self._name}")
            if lease is not None:
                await self._client.change(LEASES, lease, self._free)
        except (errors.StatusError, StorageError) as exc:
            logger.info("cannot release the lease %s: %s", self._name, exc)

    def _free(self, lease: Object) -> bool:
        if lease["spec"].get("holderIdentity") != self._identity:
            return False
        lease["spec"] = {**lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
        return True

"""Election: leader election among servers on one storage, with a Lease, as in kube-controller-manager.

Must hold: a leader that cannot renew stops before another server may begin. A leader that stops gracefully releases the
lease at once. A lease is valid for its duration from the moment at which this server saw its renewal; the holder's
clock does not count.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, TypeVar

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.resources import LEASES
from aio_apiserver.registry.base import errors
from aio_apiserver.storage.errors import StorageError

logger = logging.getLogger(__name__)

NAMESPACE = "kube-system"
_LEASE_SECONDS = 15
_RENEW_SECONDS = 10.0
_PAUSE_SECONDS = 2.0
_ANSWER_SECONDS = 10.0
"""The longest wait for the store, unless less is left of the lease."""
T = TypeVar("T")


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
        self._failure = ""
        """Why the last attempt has failed; empty when it has not."""
        self.has_tried = False
        """Whether the leader is known."""

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Call `lead` while this server holds the lease, until cancelled."""
        while True:
            while not await self._try(_ANSWER_SECONDS):
                await self._patience.sleep(_PAUSE_SECONDS)
            logger.info("%s became leader of the lease %s", self._identity, self._name)
            try:
                await self._lead(lead)
            finally:
                await self._let_go()

    async def _lead(self, lead: Callable[[], Awaitable[None]]) -> None:
        leading = asyncio.ensure_future(lead())
        try:
            while (left := self._renewed_at + _RENEW_SECONDS - self._patience.monotonic()) > 0 and not leading.done():
                await self._patience.sleep(min(_PAUSE_SECONDS, left))
                await self._try(left - _PAUSE_SECONDS)
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

    async def _try(self, seconds: float) -> bool:
        """Acquire or renew the lease within this time. Returns whether this server holds it."""
        sent_at = self._patience.monotonic()
        try:
            holds = await self._within(seconds, self._take())
        except (errors.StatusError, StorageError, TimeoutError) as exc:
            if str(exc) != self._failure:
                self._failure = str(exc)
                logger.info("cannot acquire or renew the lease %s, retrying: %s", self._name, exc)
            return False
        self._failure = ""
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
        is_marked = False

        def mark(present: Object) -> bool:
            nonlocal is_marked
            is_marked = self._mark(present)
            return is_marked

        return await self._client.change(LEASES, lease, mark) is not None and is_marked

    def _mark(self, lease: Object) -> bool:
        if not self._may_take(lease):
            return False
        spec = lease.get("spec") or {}
        turns = int(spec.get("leaseTransitions") or 0)
        if spec.get("holderIdentity") == self._identity:
            held = self._held(turns)
            lease["spec"] = {**held, "acquireTime": spec.get("acquireTime") or held["acquireTime"]}
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
            await self._within(_ANSWER_SECONDS, self._release())
        except (errors.StatusError, StorageError, TimeoutError) as exc:
            logger.info("cannot release the lease %s: %s", self._name, exc)

    async def _release(self) -> None:
        lease = await self._client.get(LEASES, f"{NAMESPACE}/{self._name}")
        if lease is not None:
            await self._client.change(LEASES, lease, self._free)

    def _free(self, lease: Object) -> bool:
        spec = lease.get("spec") or {}
        if spec.get("holderIdentity") != self._identity:
            return False
        lease["spec"] = {**spec, "holderIdentity": "", "leaseDurationSeconds": 1}
        return True

    async def _within(self, seconds: float, work: Coroutine[Any, Any, T]) -> T:
        """The result of a request. Raises TimeoutError when the store does not answer in time."""
        working, waiting = asyncio.ensure_future(work), asyncio.ensure_future(self._patience.sleep(seconds))
        try:
            await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise TimeoutError("no answer in time")
            return working.result()
        finally:
            waiting.cancel()
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

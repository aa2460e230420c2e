"""Requests: sends one call to the etcd cluster, with retries on other members within the deadline.

A call that may be made twice is repeated, on another member if there is one. A write that may have taken effect is not
repeated: the caller finds out its outcome. Knows the calls, not their content.

Must hold: a request has an answer or an error when the deadline has passed. A write is sent a second time only when it
is certain that the first one had no effect.
"""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.errors import Closed, DeadlineExceeded, StorageError, Unavailable
from aio_apiserver.storage.kv.etcd import failures
from aio_apiserver.storage.kv.etcd.endpoint import Calls, Endpoint, UnaryCall
from aio_apiserver.storage.kv.etcd.endpoints import Endpoints
from aio_apiserver.storage.kv.etcd.failures import Effect, Failure
from aio_apiserver.storage.kv.etcd.grpc_status import Metadata
from aio_apiserver.storage.kv.etcd.token import Token

Method = Callable[[Calls], UnaryCall[Any]]
"""Picks one of a member's calls."""

_FIRST_PAUSE = 0.02
_LAST_PAUSE = 0.5
"""Seconds between repetitions; the first one follows at once when the failed member gets no more requests."""

_MOST_SHARES = 3
"""The deadline is divided into at most so many parts, so that a silent member leaves time to try others."""

_DOUBT_SHARE = 0.3
"""The part of the deadline in which a write without an answer looks for its outcome."""


class InDoubt(Exception):
    """A write that may have taken effect, or still may. error: the failure. seconds: the rest of its deadline."""

    def __init__(self, error: StorageError, *, seconds: float) -> None:
        super().__init__(str(error))
        self.error = error
        self.seconds = seconds


class Requests:
    """Calls with retries. `deadline` in seconds holds for each request as a whole."""

    def __init__(self, endpoints: Endpoints, token: Token, clock: Clock, *, deadline: float) -> None:
        self._deadline = deadline
        self._endpoints = endpoints
        self._token = token
        self._clock = clock
        self._shares = min(len(endpoints), _MOST_SHARES)
        self._is_closed = False

    async def repeat(
        self,
        method: Method,
        request: Any,
        *,
        settled_by: type[StorageError] | None = None,
        seconds: float = 0.0,
        is_patient: bool = True,
    ) -> Any:
        """Make a call that may be made twice without harm. Raises DeadlineExceeded if it may have taken effect.

        seconds: a deadline of its own. is_patient: False fails as soon as no member is up.

        settled_by: the refusal that a repetition gets when an earlier attempt has taken effect; the answer is None
        then.
        """
        until = self._clock.monotonic() + (seconds or self._deadline)
        is_in_doubt = False
        try:
            for attempt in itertools.count():
                left = until - self._clock.monotonic()
                endpoint = self._endpoints.pick() or await self._endpoints.wait_until_up(left if is_patient else 0)
                share = left / max(1, self._shares - attempt)
                token = self._token.metadata
                try:
                    return await method(endpoint.calls)(request, timeout=share, metadata=self._token.read_metadata)
                except failures.GRPC_EXCEPTIONS as error:
                    failure = self._understand(error)
                if is_in_doubt and settled_by is not None and isinstance(failure.error, settled_by):
                    return None
                is_in_doubt = is_in_doubt or failure.effect is Effect.UNKNOWN
                await self._recover(endpoint, failure, token, attempt=attempt, until=until)
        except Unavailable as error:
            if is_in_doubt:
                raise DeadlineExceeded(str(error)) from error
            raise
        raise AssertionError("unreachable")

    async def write(self, method: Method, request: Any) -> Any:
        """Make a call that may take effect once. Raises InDoubt when it is not known whether it did."""
        end = self._clock.monotonic() + self._deadline
        until = end - self._deadline * _DOUBT_SHARE
        for attempt in itertools.count():
            left = until - self._clock.monotonic()
            endpoint = self._endpoints.pick() or await self._endpoints.wait_until_up(left)
            token = self._token.metadata
            try:
                return await method(endpoint.calls)(request, timeout=left, metadata=token)
            except failures.GRPC_EXCEPTIONS as error:
                failure = self._understand(error)
            if failure.effect is Effect.UNKNOWN:
                self._leave(endpoint, failure)
                raise InDoubt(failure.error, seconds=end - self._clock.monotonic())
            await self._recover(endpoint, failure, token, attempt=attempt, until=until)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """From now on, interrupted calls raise Closed."""
        self._is_closed = True

    def _understand(self, error: BaseException) -> Failure:
        failure = failures.of_exception(error)
        if self._is_closed:
            raise Closed("the engine was closed") from error
        return failure

    async def _recover(
        self, endpoint: Endpoint, failure: Failure, refused: Metadata, *, attempt: int, until: float
    ) -> None:
        """Prepare a repetition, or raise the failure."""
        left = until - self._clock.monotonic()
        if failure.effect is Effect.REFUSED or left <= 0:
            raise failure.error
        self._leave(endpoint, failure)
        if failure.effect is Effect.RENEW:
            await self._renew(endpoint, refused, left)
        if attempt or not failure.leave:
            await self._clock.sleep(min(_FIRST_PAUSE * 2 ** min(attempt, 10), _LAST_PAUSE, left))

    async def _renew(self, endpoint: Endpoint, refused: Metadata, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._token.renew(endpoint, refused, seconds=seconds)
        except TimeoutError:
            raise DeadlineExceeded("etcd gave no token in time") from None
        except failures.GRPC_EXCEPTIONS as error:
            failure = self._understand(error)
            if failure.effect is Effect.REFUSED:
                raise failure.error from error
            self._leave(endpoint, failure)

    def _leave(self, endpoint: Endpoint, failure: Failure) -> None:
        if failure.leave:
            self._endpoints.leave(endpoint, str(failure.error))

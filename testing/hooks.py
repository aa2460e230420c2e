"""Hooks: functions of a test as webhooks, served over HTTPS and registered while a context is open.

The server's loop takes the calls. A coroutine function runs on the loop that opened the context. Other functions run in
a thread, so that they may block and call the API server themselves. Must hold: an exception of a function becomes an
error response, and is raised again at the end of the context. After the context no port and no registration is left.
A hook that no `with` block has entered warns.
"""

import asyncio
import inspect
import ssl
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import orjson
from aiohttp import web
from msgspec import Struct

from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.wire.listeners import Listener
from aio_apiserver.testing.bench.request_selectors import ResourceNames
from aio_apiserver.testing.client import BlockingClient
from aio_apiserver.testing.reviews import Object

T = TypeVar("T")
Call = Callable[..., Any]
_GRACE_SECONDS = 0.0
_OUR_END = (asyncio.CancelledError, KeyboardInterrupt, SystemExit)


class HookCall(NamedTuple):
    """One call of a hook: the request and the response of the review."""

    request: Mapping[str, Any]
    response: Mapping[str, Any]


class HookHost(Struct, frozen=True):
    """The server that hooks are registered with. `settle` returns when it has seen all writes."""

    run: Callable[[Coroutine[Any, Any, Any]], Any]
    settle: Callable[[], Coroutine[Any, Any, None]]
    client: Callable[[], BlockingClient]
    pki: Pki
    resources: ResourceNames


class HookAddress(NamedTuple):
    """The URL of a hook, and the certificate authority of its server in PEM."""

    url: str
    authority: str


class HookRegistration(Protocol):
    """Registers a hook with the API server, and removes the registration."""

    def put(self, client: BlockingClient, place: HookAddress) -> None: ...

    def withdraw(self, client: BlockingClient) -> None: ...


class Hook:
    """One function as a webhook. `answer` makes the response from the function's result or exception."""

    def __init__(
        self, host: HookHost, registration: HookRegistration, answer: "Answer", over: Callable[["Hook"], None]
    ) -> None:
        self.calls: list[HookCall] = []
        """Its calls, oldest first."""
        self._host = host
        self._registration = registration
        self._answer = answer
        self._over = over
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listener: Listener | None = None
        self._failures: list[BaseException] = []
        self._is_used = False

    def __del__(self) -> None:
        if not self._is_used:
            message = "a webhook was never registered: write `with server.webhooks...:`"
            warnings.warn(message, RuntimeWarning, source=self, stacklevel=1)

    def __enter__(self) -> Self:
        self._loop = _running_loop()
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
        self._raise()

    async def __aenter__(self) -> Self:
        self._loop = _running_loop()
        await asyncio.to_thread(self._open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)
        self._raise()

    def close(self) -> None:
        """Remove the registration and close the port, whatever the function has raised. It may be called twice."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        try:
            with self._host.client() as client:
                self._registration.withdraw(client)
            self._host.run(self._host.settle())
        finally:
            self._host.run(listener.close(_GRACE_SECONDS))
            self._over(self)

    async def run(self, function: Call, *arguments: Any) -> Any:
        """Call the function. Returns its result."""
        result = await asyncio.to_thread(function, *arguments)
        if not inspect.isawaitable(result):
            return result
        if self._loop is None:
            return await result
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_awaited(result), self._loop))

    def failed(self, failure: BaseException) -> None:
        """Keep an exception, to raise it at the end of the context."""
        self._failures.append(failure)

    def _open(self) -> None:
        self._is_used = True
        pki = self._host.pki
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki.server.certificate, pki.server.key)
        listener: Listener = self._host.run(Listener.open(self._handle, "127.0.0.1", 0, tls=context))
        self._listener = listener
        place = HookAddress(f"https://127.0.0.1:{listener.port}/", pki.authority.read_text())
        try:
            with self._host.client() as client:
                self._registration.put(client, place)
            self._host.run(self._host.settle())
        except BaseException:
            self.close()
            raise

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        review = orjson.loads(await request.read())
        answer = await self._answer(self, review["request"])
        self.calls.append(HookCall(review["request"], answer["response"]))
        return web.Response(body=orjson.dumps(answer), content_type="application/json")

    def _raise(self) -> None:
        if self._failures:
            raise self._failures[0]


Answer = Callable[[Hook, Object], Awaitable[Object]]


def is_ours(failure: BaseException) -> bool:
    """Whether an exception ends the program and is no failure of the function."""
    return isinstance(failure, _OUR_END)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _awaited(result: Awaitable[T]) -> T:
    return await result

"""Hooks: functions of a test, served over HTTPS and registered while a context is open.

The server's loop takes the calls. A function that waits runs on the loop that ran where the context was opened, others
in a thread: they may block, and ask the API server themselves. Must hold: what a function raises is answered, and
raised again where the context ends; nothing is left of a hook then, no port and no registration.
"""

import asyncio
import inspect
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import orjson
from aiohttp import web
from msgspec import Struct

from aio_apiserver.apiserver.testing.client import Client
from aio_apiserver.apiserver.testing.reviews import Object
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.wire.listeners import Listener

T = TypeVar("T")
Call = Callable[..., Any]
_GRACE_SECONDS = 0.0
_OUR_END = (asyncio.CancelledError, KeyboardInterrupt, SystemExit)


class Asked(NamedTuple):
    """One call of a hook: the request and the response of the review."""

    request: Mapping[str, Any]
    response: Mapping[str, Any]


class Host(Struct, frozen=True):
    """The server that hooks are registered with, as they need it. `settle` returns when it knows what was written."""

    run: Callable[[Coroutine[Any, Any, Any]], Any]
    settle: Callable[[], Coroutine[Any, Any, None]]
    client: Callable[[], Client]
    pki: Pki


class Place(NamedTuple):
    """Where a hook is served, and the certificate in PEM to check it with."""

    url: str
    authority: str


class Registration(Protocol):
    """How the API server is told of a hook, and how that is taken back."""

    def put(self, client: Client, place: Place) -> None: ...

    def withdraw(self, client: Client) -> None: ...


class Hook:
    """One function. `answer` makes the answer to a review out of what the function returns, or has raised."""

    def __init__(
        self, host: Host, registration: Registration, answer: "Answer", over: Callable[["Hook"], None]
    ) -> None:
        self.calls: list[Asked] = []
        """What it was asked, oldest first."""
        self._host = host
        self._registration = registration
        self._answer = answer
        self._over = over
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listener: Listener | None = None
        self._failures: list[BaseException] = []

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
        """Withdraw it, whatever it has raised. Safe to call twice."""
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
        """What the function returns."""
        result = await asyncio.to_thread(function, *arguments)
        if not inspect.isawaitable(result):
            return result
        if self._loop is None:
            return await result
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_awaited(result), self._loop))

    def failed(self, failure: BaseException) -> None:
        """Raise it where the context ends."""
        self._failures.append(failure)

    def _open(self) -> None:
        pki = self._host.pki
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki.server.certificate, pki.server.key)
        listener: Listener = self._host.run(Listener.open(self._handle, "127.0.0.1", 0, tls=context))
        self._listener = listener
        place = Place(f"https://127.0.0.1:{listener.port}/", pki.authority.read_text())
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
        self.calls.append(Asked(review["request"], answer["response"]))
        return web.Response(body=orjson.dumps(answer), content_type="application/json")

    def _raise(self) -> None:
        if self._failures:
            raise self._failures[0]


Answer = Callable[[Hook, Object], Awaitable[Object]]


def is_ours(failure: BaseException) -> bool:
    """Whether the program ends, and not a function has failed."""
    return isinstance(failure, _OUR_END)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _awaited(result: Awaitable[T]) -> T:
    return await result

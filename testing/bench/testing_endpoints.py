"""Testing endpoints: the test tools over HTTP below /testing/, for tests in any language.

    GET, POST, DELETE  /testing/faults                  the rules; add some (YAML or JSON); remove all
    DELETE             /testing/faults/ID
    GET                /testing/snapshots
    PUT, DELETE        /testing/snapshots/NAME          make or replace one; delete it
    POST               /testing/snapshots/NAME/restore  with ?expires=true, open watches end with 410
    POST               /testing/reset                   return to the state of a new server
    GET                /testing/requests?verb=patch&... the requests of clients
    POST               /testing/settle                  answers when the controllers have settled
    GET                /testing/clock                   the server's time
    POST               /testing/clock/hold              ?at=2030-01-01T00:00:00Z; hold there, or now
    POST               /testing/clock/advance?by=1h30m  let time pass; answers when all due work is done
    POST               /testing/clock/set?to=2030-...   go there at once
    POST               /testing/clock/release           run again
    GET                /testing/

Authorization runs before: RBAC allows system:masters, and users whose role names these paths. Must hold: anonymous
users are refused.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from aiohttp import web

from aio_apiserver.apiserver.wire import bodies, parameters, responses, route_errors
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.generic.access.users import ANONYMOUS
from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.testing.bench import server_clock
from aio_apiserver.testing.bench.clock_steps import NotSettled

if TYPE_CHECKING:
    from aio_apiserver.testing.bench import fault_rules
    from aio_apiserver.testing.bench.bench import Bench
else:
    fault_rules = Deferred("aio_apiserver.testing.bench.fault_rules")

Answer = dict[str, Any]
_Do = Callable[[web.BaseRequest, RequestContext, Sequence[str]], Awaitable[Answer]]


@contextmanager
def _or_not_found(name: str) -> Iterator[None]:
    try:
        yield
    except KeyError:
        raise errors.BadRequest(f"there is no {name!r}") from None


class BenchEndpoints:
    """The endpoints of one bench."""

    def __init__(self, bench: "Bench") -> None:
        self._bench = bench
        self._actions: Mapping[tuple[str, ...], _Do] = {
            ("GET", ""): self._show,
            ("GET", "faults"): self._show,
            ("POST", "faults"): self._inject,
            ("DELETE", "faults"): self._clear,
            ("DELETE", "faults", "*"): self._remove,
            ("GET", "snapshots"): self._show,
            ("PUT", "snapshots", "*"): self._snapshot,
            ("DELETE", "snapshots", "*"): self._forget,
            ("POST", "snapshots", "*", "restore"): self._restore,
            ("POST", "reset"): self._reset,
            ("GET", "requests"): self._requests,
            ("POST", "settle"): self._settle,
            ("GET", "clock"): self._clock,
            ("POST", "clock", "*"): self._move,
        }

    async def handle(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Dispatch by method and path."""
        if context.user == ANONYMOUS:
            raise errors.Unauthorized
        parts = context.path.split("/")[2:]
        pattern = tuple("*" if place == 1 else part for place, part in enumerate(parts))
        act = self._actions.get((request.method, *pattern))
        if act is None:
            known = any(action[1:] == pattern for action in self._actions)
            raise route_errors.RouteMethodNotAllowed if known else route_errors.RouteNotFound
        try:
            return responses.json(request, context, await act(request, context, parts))
        except (InvalidOptions, TypeError, ValueError, NotSettled) as exc:
            raise errors.BadRequest(str(exc)) from exc

    async def _show(self, _request: web.BaseRequest, _context: RequestContext, _parts: Sequence[str]) -> Answer:
        return dict(self._bench.statistics())

    async def _inject(self, request: web.BaseRequest, _context: RequestContext, _parts: Sequence[str]) -> Answer:
        wanted = fault_rules.parse(await bodies.read(request), "the body")
        return {"faults": [(await self._bench.inject(rule)).rule.model_dump(mode="json") for rule in wanted]}

    async def _clear(self, _request: web.BaseRequest, _context: RequestContext, _parts: Sequence[str]) -> Answer:
        self._bench.faults.clear()
        return {}

    async def _remove(self, _request: web.BaseRequest, _context: RequestContext, parts: Sequence[str]) -> Answer:
        with _or_not_found(parts[1]):
            removed = self._bench.faults.remove(parts[1])
        return {**removed.rule.model_dump(mode="json"), "injected": removed.injected}

    async def _snapshot(self, _request: web.BaseRequest, _context: RequestContext, parts: Sequence[str]) -> Answer:
        made = self._bench.snapshots[parts[1]] = await self._bench.snapshot()
        return {"objects": len(made), "revision": made.revision}

    async def _forget(self, _request: web.BaseRequest, _context: RequestContext, parts: Sequence[str]) -> Answer:
        with _or_not_found(parts[1]):
            del self._bench.snapshots[parts[1]]
        return {}

    async def _restore(self, _request: web.BaseRequest, context: RequestContext, parts: Sequence[str]) -> Answer:
        with _or_not_found(parts[1]):
            wanted = self._bench.snapshots[parts[1]]
        expires = bool(parameters.flag(context.query, "expires"))
        return {"revision": await self._bench.restore(wanted, expires=expires)}

    async def _reset(self, _request: web.BaseRequest, _context: RequestContext, _parts: Sequence[str]) -> Answer:
        return {"revision": await self._bench.reset()}

    async def _settle(self, _request: web.BaseRequest, _context: RequestContext, _parts: Sequence[str]) -> Answer:
        await self._bench.moving.settle()
        return {}

    async def _clock(self, _request: web.BaseRequest, _context: RequestContext, _parts: Sequence[str]) -> Answer:
        clock = self._bench.clock
        shown = datetime.fromtimestamp(clock.now(), UTC).isoformat(timespec="microseconds")
        return {"time": shown.replace("+00:00", "Z"), "isHeld": clock.is_held}

    async def _move(self, request: web.BaseRequest, context: RequestContext, parts: Sequence[str]) -> Answer:
        clock, moving = self._bench.clock, self._bench.moving
        match parts[1]:
            case "hold":
                await server_clock.hold(clock, moving, parameters.text(context.query, "at") or None)
            case "release":
                clock.release()
            case "advance":
                await moving.advance(server_clock.seconds_of(parameters.text(context.query, "by")))
            case "set":
                await moving.set(server_clock.epoch_of(parameters.text(context.query, "to")))
            case _:
                raise route_errors.RouteNotFound
        return await self._clock(request, context, parts)

    async def _requests(self, _request: web.BaseRequest, context: RequestContext, _parts: Sequence[str]) -> Answer:
        patterns = {name: values[0] for name, values in context.query.items() if values}
        return {"requests": [one.as_json() for one in self._bench.requests.selected(patterns)]}

"""traced_kv: TracedKV, a kv engine whose calls count as the time of their request in etcd, as in kube-apiserver.

A server without traces has plain engines. Must hold: the results are those of the engine. Watches and leases are not
timed.
"""

from collections.abc import Callable, Coroutine
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar

from aio_apiserver.base import tracing
from aio_apiserver.base.tracing import TraceLayer
from aio_apiserver.storage.kv.interface import KV, ComparesKeys

P = ParamSpec("P")
T = TypeVar("T")


class TracedKV:
    """The engine of one store."""

    def __init__(self, kv: KV) -> None:
        self._kv = kv
        self.get = _timed(kv.get)
        self.range = _timed(kv.range)
        self.put = _timed(kv.put)
        self.delete = _timed(kv.delete)
        self.current_revision = _timed(kv.current_revision)
        self.known_revision = kv.known_revision
        if isinstance(kv, ComparesKeys):
            self.newest = _timed(kv.newest)
        self.statistics = kv.statistics
        self.grant_lease = kv.grant_lease
        self.revoke_lease = kv.revoke_lease
        self.watch = kv.watch
        self.request_progress = kv.request_progress
        self.compact = kv.compact
        self.health = kv.health
        self.close = kv.close

    has_reliable_progress = property(attrgetter("_kv.has_reliable_progress"))


def _timed(call: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    async def timed(*args: P.args, **kwargs: P.kwargs) -> T:
        with tracing.timed(TraceLayer.STORE):
            return await call(*args, **kwargs)

    return timed

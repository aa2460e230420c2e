"""EventRateLimit: limits the events per second of the server, a namespace, a user, or a source and object.

limits:
- type: Namespace
  qps: 50
  burst: 100
  cacheSize: 2000  # number of namespaces with a bucket of their own
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.short_texts import key_of
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.core.events.events import EVENTS

_EVENTS = EVENTS.resource
_DEFAULT_CACHE_SIZE = 4096


def _source_and_object(attributes: Attributes) -> str:
    obj = attributes.obj or {}
    paths = ("component", "host"), ("kind", "namespace", "name", "uid", "apiVersion")
    source = [objects.get(obj, f"source.{name}", "") for name in paths[0]]
    return "".join(source + [objects.get(obj, f"involvedObject.{name}", "") for name in paths[1]])


_KEYS: Mapping[str, Callable[[Attributes], str]] = {
    "Server": lambda _attributes: "",
    "Namespace": lambda attributes: attributes.namespace,
    "User": lambda attributes: attributes.user.name,
    "SourceAndObject": _source_and_object,
}


class Limit(Struct, frozen=True):
    """One limit of the configuration. Each key of its type has a token bucket with this rate and size."""

    type: str
    per_second: int
    burst: int
    cache_size: int = _DEFAULT_CACHE_SIZE


def make(given: Foundation) -> "EventRateLimit":
    """The plugin with the limits of its configuration. Raises ValueError."""
    return EventRateLimit(configured(given.config.admission_configuration.get(EventRateLimit.name)), given.clock)


def configured(configuration: Any) -> Sequence[Limit]:
    """The limits of a configuration. Raises ValueError."""
    given = configuration.get("limits") if isinstance(configuration, dict) else None
    if not given:
        raise ValueError("configuration of EventRateLimit: limits must not be empty")
    return [_limit(one) for one in given]


def _limit(given: Mapping[str, Any]) -> Limit:
    limit = Limit(
        given.get("type", ""), given.get("qps", 0), given.get("burst", 0), given.get("cacheSize") or _DEFAULT_CACHE_SIZE
    )
    if limit.type not in _KEYS:
        raise ValueError(f"configuration of EventRateLimit: type can be {', '.join(_KEYS)}")
    if limit.burst <= 0 or limit.per_second <= 0 or limit.cache_size <= 0:
        raise ValueError("configuration of EventRateLimit: qps, burst and cacheSize must be positive")
    return limit


class _Bucket(Struct):
    """The tokens that were left at a moment. The bucket fills up with time."""

    left: float
    at: float


class _Enforcer:
    """One limit, with the buckets of the keys that were used last."""

    def __init__(self, limit: Limit, clock: Clock) -> None:
        self._limit = limit
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        """By the key, or by the digest of a long one."""

    def refusal(self, attributes: Attributes) -> str:
        """The reason to refuse an event; empty when the limit is not reached."""
        key = _KEYS[self._limit.type](attributes)
        if self._take(key):
            return ""
        return f"limit reached on type {self._limit.type} for key {key}"

    def _take(self, key: str) -> bool:
        now = self._clock.monotonic()
        key = key_of(key)
        bucket = self._buckets.setdefault(key, _Bucket(self._limit.burst, now))
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._limit.cache_size:
            self._buckets.popitem(last=False)
        bucket.left = min(self._limit.burst, bucket.left + (now - bucket.at) * self._limit.per_second)
        bucket.at = now
        if bucket.left < 1:
            return False
        bucket.left -= 1
        return True


class EventRateLimit(Plugin):
    """Charges every limit, also after one of them has refused the event."""

    name = "EventRateLimit"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({_EVENTS})

    def __init__(self, limits: Sequence[Limit], clock: Clock) -> None:
        self._enforcers = [_Enforcer(limit, clock) for limit in limits]

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource != _EVENTS or attributes.is_dry_run:
            return
        reasons = [why for enforcer in self._enforcers if (why := enforcer.refusal(attributes))]
        if reasons:
            raise _TooManyEvents(f"Too many requests: {errors.aggregate(reasons)}")


class _TooManyEvents(errors.StatusError):
    """A TooManyRequests without retryAfterSeconds."""

    code = errors.TooManyRequests.code
    reason = errors.TooManyRequests.reason

"""tracing: spans, the timed operations of one request with their steps, after Kubernetes' component-base/tracing.

The span of the running task is in a context variable, since all layers add to it. A filter begins the first span.
Without tracing, `current()` is UNTRACED, whose `step` is a C function without effect. So code of every request may add
steps, while spans begin in wrappers that a traced server has. The trace of a request also adds up its seconds in each
layer, for audit events.

Must hold: nothing here fails or waits. A span that has ended takes no more steps and spans, so that background tasks do
not grow it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from types import MappingProxyType

from msgspec import Struct, field

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance

Attribute = str | int | bool
Attributes = Mapping[str, Attribute]
NO_ATTRIBUTES: Attributes = MappingProxyType({})
LONG_SECONDS = 0.5
"""The duration from which most operations of kube-apiserver are logged as slow."""
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_NO_LAYERS: Mapping["TraceLayer", float] = MappingProxyType({})
_MOST_ITEMS = 128
"""Steps and spans in one span, as the limit on events in OpenTelemetry."""


class SpanKind(Enum):
    """The kind of a span, with the words of OpenTelemetry."""

    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"


class TraceLayer(Enum):
    """A layer of a request whose duration belongs into audit events, with its name there."""

    AUTHENTICATION = "authentication"
    AUTHORIZATION = "authorization"
    QUEUE = "apf-queue-wait"
    MUTATING = "mutating-webhook"
    VALIDATING = "validating-webhook"
    STORE = "etcd"
    DECODING = "decode-response-object"
    TRANSFORMING = "transform-response-object"
    SERIALIZING = "serialize-response-object"
    WRITING = "response-write"
    IMPERSONATION = "impersonation"


class LayerSeconds:
    """The seconds of one request in each layer. Validating webhooks run at the same time: the longest call counts."""

    __slots__ = ("by_layer",)

    def __init__(self) -> None:
        self.by_layer: dict[TraceLayer, float] = {}

    def add(self, layer: TraceLayer, seconds: float) -> None:
        known = self.by_layer.get(layer, 0.0)
        self.by_layer[layer] = max(known, seconds) if layer is TraceLayer.VALIDATING else known + seconds


class SpanStep(Struct, frozen=True):
    """A step of an operation, and the moment at which it was over."""

    name: str
    at: float
    attributes: Attributes


class TraceFacts(Struct, frozen=True, kw_only=True):
    """What the spans of one trace share.

    number: its id of 128 bits; 0 when spans are not exported. state, baggage: the W3C header fields to pass on.
    offset: the wall clock's distance from the monotonic scale. on_end: called with each span that ends.
    """

    clock: Clock
    offset: float
    on_end: Callable[["TraceSpan"], None]
    number: int = 0
    is_sampled: bool = False
    state: str = ""
    baggage: str = ""
    layers: LayerSeconds = field(default_factory=LayerSeconds)


_no_effect = "".format
"""A function of the interpreter that takes any arguments, and has no effect. It costs less than one of Python."""


class Untraced:
    """The span of a task that is not traced."""

    def __init__(self) -> None:
        self.step: Callable[..., object] = _no_effect
        self.took: Callable[[TraceLayer, float], object] = _no_effect
        self.headers = _NO_HEADERS
        self.layers = _NO_LAYERS
        self.has_ended = True


UNTRACED = Untraced()


class TraceSpan:
    """An operation.

    threshold: the seconds from which it is logged as slow; None for one that is exported alone. parent: the id of the
    span around it, which may be in another process; 0 for the first. links: spans of other traces that have caused it.
    layer: the layer to which its seconds are added at its end. stepped: when its last step was over.
    """

    def __init__(
        self,
        trace: TraceFacts,
        name: str,
        attributes: Attributes = NO_ATTRIBUTES,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        threshold: float | None = None,
        parent: int = 0,
        is_topmost: bool = True,
        links: tuple[tuple[int, int], ...] = (),
        began: float | None = None,
        layer: TraceLayer | None = None,
    ) -> None:
        self.trace = trace
        self.name = name
        self.attributes = dict(attributes)
        self.kind = kind
        self.threshold = threshold
        self.parent = parent
        self.is_topmost = is_topmost
        self.links = links
        self.layer = layer
        self.number = chance.getrandbits(64) if trace.number else 0
        self.began = trace.clock.monotonic() if began is None else began
        self.ended = 0.0
        self.has_ended = False
        self.has_failed = False
        self.items: list[SpanStep | TraceSpan] = []
        self.stepped = self.began

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    def step(self, name: str, attributes: Attributes = NO_ATTRIBUTES) -> None:
        """Note that a step is over."""
        self.stepped = self.trace.clock.monotonic()
        self._keep(SpanStep(name, self.stepped, attributes))

    def child(
        self,
        name: str,
        attributes: Attributes,
        *,
        threshold: float | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        layer: TraceLayer | None = None,
    ) -> "TraceSpan":
        """An operation inside of this one."""
        made = TraceSpan(
            self.trace,
            name,
            attributes,
            kind=kind,
            threshold=threshold,
            parent=self.number,
            is_topmost=self.threshold is None,
            layer=layer,
        )
        self._keep(made)
        return made

    def end(self) -> None:
        if not self.has_ended:
            self.ended, self.has_ended = self.trace.clock.monotonic(), True
            if self.layer is not None:
                self.took(self.layer, self.seconds)
            self.trace.on_end(self)

    def took(self, layer: TraceLayer, seconds: float) -> None:
        """Add to the seconds of the request in a layer."""
        self.trace.layers.add(layer, seconds)

    @property
    def layers(self) -> Mapping[TraceLayer, float]:
        """The seconds of the request in each layer, so far."""
        return self.trace.layers.by_layer

    @property
    def headers(self) -> Mapping[str, str]:
        """The W3C header fields by which another server continues the trace."""
        trace = self.trace
        if not trace.number:
            return _NO_HEADERS
        fields = {"traceparent": f"00-{trace.number:032x}-{self.number:016x}-{int(trace.is_sampled):02x}"}
        more = {"tracestate": trace.state, "baggage": trace.baggage}
        return {**fields, **{name: value for name, value in more.items() if value}}

    def _keep(self, item: "SpanStep | TraceSpan") -> None:
        if not self.has_ended and len(self.items) < _MOST_ITEMS:
            self.items.append(item)


_current: ContextVar[TraceSpan | Untraced] = ContextVar("span", default=UNTRACED)
current = _current.get
"""The span of the running task. A function of the interpreter, not of Python."""


@contextmanager
def within(span: TraceSpan) -> Iterator[TraceSpan]:
    """Make a span the current one, and end it with the block."""
    before = _current.set(span)
    try:
        yield span
    finally:
        _current.reset(before)
        span.end()


@contextmanager
def spanned(
    name: str,
    attributes: Attributes = NO_ATTRIBUTES,
    *,
    threshold: float | None = LONG_SECONDS,
    kind: SpanKind = SpanKind.INTERNAL,
    layer: TraceLayer | None = None,
) -> Iterator[TraceSpan | Untraced]:
    """Make a span inside of the current one, if there is one."""
    around = current()
    if isinstance(around, Untraced) or around.has_ended:
        yield UNTRACED
        return
    with within(around.child(name, attributes, threshold=threshold, kind=kind, layer=layer)) as span:
        yield span


@contextmanager
def timed(layer: TraceLayer) -> Iterator[None]:
    """Add the block's seconds to a layer of the current request, without a span."""
    around = current()
    if isinstance(around, Untraced) or around.has_ended:
        yield
        return
    clock = around.trace.clock
    began = clock.monotonic()
    try:
        yield
    finally:
        around.took(layer, clock.monotonic() - began)


def new_number() -> int:
    """The id of a new trace."""
    return chance.getrandbits(128) or 1

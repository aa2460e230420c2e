"""Exposition: writes metrics in Prometheus' text format, as kube-apiserver does.

Pure. prometheus-client is not used, since it appends `_total` to the name of every counter. Must hold: a histogram with
labels is left out until it has an observation.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from math import inf

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily
from aio_apiserver.base.measures import Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_EXPONENT_FROM, _EXPONENT_BELOW = 1e6, 1e-4


def text(families: Iterable[AnyFamily]) -> str:
    """All families with series, by name."""
    shown = sorted((family for family in families if family.series), key=lambda family: family.name)
    return "".join(line for family in shown for line in _lines(family))


def _lines(family: AnyFamily) -> Iterator[str]:
    yield f"# HELP {family.name} [{family.stability.value}] {family.documentation}\n"
    yield f"# TYPE {family.name} {family.kind.value}\n"
    for values, series in sorted(family.series.items()):
        pairs = sorted(zip(family.labels, values, strict=True))
        labels = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in pairs]
        if isinstance(series, Histogram):
            if any(series.counts) or not labels:
                yield from _buckets(family.name, labels, series)
        else:
            yield f"{family.name}{_braced(labels)} {_number(series.value)}\n"


def _buckets(name: str, labels: Sequence[str], histogram: Histogram) -> Iterator[str]:
    total = 0
    for bound, count in zip((*histogram.bounds, inf), histogram.counts, strict=True):
        total += count
        bucket_labels = _braced([*labels, f'le="{_number(bound)}"'])
        yield f"{name}_bucket{bucket_labels} {total}\n"
    yield f"{name}_sum{_braced(labels)} {_number(histogram.sum)}\n"
    yield f"{name}_count{_braced(labels)} {total}\n"


def _braced(labels: Sequence[str]) -> str:
    return f"{{{','.join(labels)}}}" if labels else ""


def _number(value: float) -> str:
    """A number in Go's format: with an exponent from a million on."""
    if value == inf:
        return "+Inf"
    if value == int(value) and abs(value) < _EXPONENT_FROM:
        return str(int(value))
    if _EXPONENT_BELOW <= abs(value) < _EXPONENT_FROM:
        return repr(float(value))
    mantissa, _, exponent = f"{Decimal(repr(float(value))).normalize():e}".partition("e")
    return f"{mantissa}e{int(exponent):+03d}"

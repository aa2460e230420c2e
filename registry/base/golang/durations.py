"""Durations as Go writes them: 1m30s, 500ms, 1h, -2s, 0.

Pure. Flags, the timeout parameter, configuration files and schedules are written in this grammar; here they are
seconds.
"""

import re

from aio_apiserver.registry.base.golang.quoting import quote

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_TERM = re.compile(r"([0-9]*\.?[0-9]*)([^0-9.]*)")
_MAX_SECONDS = (2**63 - 1) / 1e9


class Invalid(ValueError):
    """A text that is no duration; the message is the one that clients know."""


def parse(text: str) -> float:
    """Seconds.

    >>> parse("1m30s"), parse("-1.5h"), parse("0")
    (90.0, -5400.0, 0.0)
    """
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    if unsigned == "0":
        return 0.0
    if not unsigned:
        raise Invalid(f"time: invalid duration {quote(text)}")
    seconds = 0.0
    position = 0
    while position < len(unsigned):
        match = _TERM.match(unsigned, position)
        assert match is not None
        seconds += _term(match[1], match[2], text)
        position = match.end()
    if seconds > _MAX_SECONDS:
        raise Invalid(f"time: invalid duration {quote(text)}")
    return -seconds if text.startswith("-") else seconds


def _term(number: str, unit: str, text: str) -> float:
    if number in ("", "."):
        raise Invalid(f"time: invalid duration {quote(text)}")
    if not unit:
        raise Invalid(f"time: missing unit in duration {quote(text)}")
    if unit not in _UNITS:
        raise Invalid(f"time: unknown unit {quote(unit)} in duration {quote(text)}")
    return float(number) * _UNITS[unit]


def show(seconds: float) -> str:
    """The text that Go prints.

    >>> show(90), show(0.25), show(0), show(3600)
    ('1m30s', '250ms', '0s', '1h0m0s')
    """
    nanoseconds = round(abs(seconds) * 1e9)
    sign = "-" if seconds < 0 else ""
    for limit, unit in ((1_000, "ns"), (1_000_000, "µs"), (1_000_000_000, "ms")):
        if 0 < nanoseconds < limit:
            return f"{sign}{_trim(nanoseconds / limit * 1000)}{unit}"
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{_trim(rest / 1e9)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def _trim(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")
